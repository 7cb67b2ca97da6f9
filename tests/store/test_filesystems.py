"""Network file systems are told from local ones by the text of `/proc/mounts`."""

from __future__ import annotations

from pathlib import Path

import pytest

from argentum.errors import StoreError
from argentum.store import filesystems
from argentum.store.sqlite import SqliteStore

MOUNTS = r"""
overlay / overlay rw,lowerdir=/a:/b 0 0
tmpfs /tmp tmpfs rw 0 0
server:/export /home nfs4 rw,vers=4.2 0 0
/dev/sdb1 /home/local ext4 rw 0 0
host /mnt/with\040space\303\244 virtiofs rw 0 0
//nas/share /mnt/share cifs rw 0 0
/dev/sdc1 /mnt/share ext4 rw 0 0
broken line
"""


@pytest.mark.parametrize(
    "path, expected",
    [
        ("/srv/runs.db", "overlay"),
        ("/tmp/a/runs.db", "tmpfs"),
        ("/tmpfile", "overlay"),
        ("/home/ada/.argentum/runs.db", "nfs4"),
        ("/home/local/runs.db", "ext4"),
        ("/homework/runs.db", "overlay"),
        ("/mnt/with space\xc3\xa4/runs.db", "virtiofs"),
        ("/mnt/share/runs.db", "ext4"),
    ],
)
def test_type_is_that_of_the_nearest_mount(path: str, expected: str) -> None:
    """The deepest mount decides, of two at one place the later, and escaped names are read."""
    assert expected == filesystems.type_of(Path(path), MOUNTS)


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "cifs", "smb3", "9p", "virtiofs", "fuse.sshfs"])
def test_store_on_a_network_is_refused(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No file is made where the write-ahead log would be corrupted; the type is named."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nthere {tmp_path.resolve()} {kind} rw 0 0\n")
    monkeypatch.setattr(filesystems, "MOUNTS", mounts)
    with pytest.raises(StoreError, match=kind):
        SqliteStore(tmp_path / "new" / "runs.db")
    assert ["mounts"] == [path.name for path in tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["ext4", "overlay", "tmpfs", "btrfs", "zfs", "fuseblk", "xfs"])
def test_store_on_a_local_disk_is_made(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Local file systems, also those of containers, are used."""
    mounts = tmp_path / "mounts"
    mounts.write_text(f"there {tmp_path.resolve()} {kind} rw 0 0\n")
    monkeypatch.setattr(filesystems, "MOUNTS", mounts)
    SqliteStore(tmp_path / "runs.db").close()
    assert (tmp_path / "runs.db").exists()


def test_nothing_is_refused_where_mounts_are_not_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Systems without `/proc/mounts` are trusted."""
    monkeypatch.setattr(filesystems, "MOUNTS", tmp_path / "none")
    assert filesystems.network_type(tmp_path) is None
