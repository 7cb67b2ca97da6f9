"""Tell file systems on which SQLite's write-ahead log is not safe: it needs shared memory."""

from __future__ import annotations

import re
from pathlib import Path

NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "davfs", "fuse.ceph", "fuse.davfs2", "fuse.gcsfuse",
    "fuse.glusterfs", "fuse.grpcfuse", "fuse.rclone", "fuse.s3fs", "fuse.sshfs",
    "fuse.vmhgfs-fuse", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2",
    "prl_fs", "smb2", "smb3", "smbfs", "vboxsf", "virtiofs", "vmhgfs",
})  # fmt: skip
MOUNTS = Path("/proc/mounts")


def type_of(path: Path, mounts: str) -> str:
    """Give the type of the file system that a path lies on, from the text of `/proc/mounts`."""
    deepest, found = 0, ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:  # noqa: PLR2004 - device, mount point, type
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda octal: chr(int(octal[1], 8)), fields[1]))
        # Of two mounts at one place, the later covers the earlier.
        if path.is_relative_to(point) and len(point.parts) >= deepest:
            deepest, found = len(point.parts), fields[2]
    return found


def network_type(path: Path) -> str | None:
    """Give the type if the path lies on a network file system, as far as this system tells."""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = type_of(path.resolve(), mounts)
    return found if found in NETWORK_TYPES else None
