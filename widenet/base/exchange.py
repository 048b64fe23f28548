"""Two files or folders that take each other's name in one step."""

import ctypes
import errno
import os
from pathlib import Path

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # of renameat2(2), which only Linux has
UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)  # by the kernel, or by the file system


def exchange(first: Path, second: Path) -> bool:
    """Exchange two names at once; False, with nothing done, where the system cannot."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None) if os.name == "posix" else None
    if renameat2 is None:
        return False
    if renameat2(AT_FDCWD, os.fsencode(first), AT_FDCWD, os.fsencode(second), RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(first), None, str(second))
