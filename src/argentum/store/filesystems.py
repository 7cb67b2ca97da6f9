"""Tell file systems on which SQLite's write-ahead log is not safe: it needs shared memory."""

from __future__ import annotations

from pathlib import Path

NETWORK_TYPES = frozenset({
    "9p", "afs", "beegfs", "ceph", "cifs", "fuse.glusterfs", "fuse.s3fs", "fuse.sshfs", "gfs2",
    "glusterfs", "lustre", "ncpfs", "nfs", "nfs4", "ocfs2", "smb3", "smbfs", "virtiofs",
})  # fmt: skip
MOUNTS = Path("/proc/mounts")


def type_of(path: Path, mounts: str) -> str:
    """Give the type of the file system that a path lies on, from the text of `/proc/mounts`."""
    best, found = "", ""
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:  # noqa: PLR2004 - device, mount point, type
            continue
        point = fields[1].encode().decode("unicode_escape")
        inside = point == "/" or path == Path(point) or Path(point) in path.parents
        if inside and len(point) >= len(best):
            best, found = point, fields[2]
    return found


def network_type(path: Path) -> str | None:
    """Give the type if the path lies on a network file system, as far as this system tells."""
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    found = type_of(path.resolve(), mounts)
    return found if found in NETWORK_TYPES else None
