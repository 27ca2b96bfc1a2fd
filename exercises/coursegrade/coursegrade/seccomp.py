"""A small seccomp filter for bubblewrap: no new processes, no tracing, mounts, keys, io_uring, bpf,

and no memory that the process's limits don't count (memfd, SysV and POSIX queues and segments).

x86-64 only: elsewhere there is no filter, and namespaces and limits have to do alone.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys

EPERM, ENOSYS = 1, 38
ALLOW, ERRNO = 0x7FFF0000, 0x00050000
LOAD, JUMP_EQUAL, JUMP_AT_LEAST, JUMP_BITS, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NUMBER, ARCHITECTURE, ARGUMENT_0 = 0, 4, 16  # offsets in struct seccomp_data
X86_64, X32_BIT, CLONE, CLONE3, CLONE_THREAD = 0xC000003E, 0x40000000, 56, 435, 0x10000

REFUSED = {
    **{"fork": 57, "vfork": 58, "ptrace": 101, "personality": 135, "kcmp": 312},
    **{"process_vm_readv": 310, "process_vm_writev": 311, "perf_event_open": 298},
    **{"mount": 165, "umount2": 166, "pivot_root": 155, "chroot": 161, "move_mount": 429},
    **{"open_tree": 428, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "mount_setattr": 442},
    **{"unshare": 272, "setns": 308, "open_by_handle_at": 304, "quotactl": 179, "acct": 163},
    **{"bpf": 321, "userfaultfd": 323, "add_key": 248, "request_key": 249, "keyctl": 250},
    **{"io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427},
    **{"kexec_load": 246, "init_module": 175, "finit_module": 313, "delete_module": 176},
    **{"swapon": 167, "reboot": 169, "pidfd_getfd": 438, "fanotify_init": 300},
    **{"memfd_create": 319, "memfd_secret": 447, "mq_open": 240},
    **{"shmget": 29, "semget": 64, "msgget": 68},
}


SOCKETS = {"socket": 41, "connect": 42, "accept": 43, "bind": 49, "listen": 50, "socketpair": 53}


def program(more: dict[str, int] = {}) -> bytes | None:  # noqa: B006 (only read)
    """The filter as the kernel reads it, or None where we have none.

    Args:
        more: system calls to be refused, too, by name.
    """
    if platform.machine() != "x86_64":
        return None
    steps = [
        (LOAD, 0, 0, ARCHITECTURE),
        (JUMP_EQUAL, 1, 0, X86_64),
        (RETURN, 0, 0, ERRNO | EPERM),
        (LOAD, 0, 0, NUMBER),
        (JUMP_AT_LEAST, 0, 1, X32_BIT),
        (RETURN, 0, 0, ERRNO | EPERM),
        # clone3 hides its flags in memory: say that it does not exist, and glibc takes clone
        (JUMP_EQUAL, 0, 1, CLONE3),
        (RETURN, 0, 0, ERRNO | ENOSYS),
        # clone: threads only
        (JUMP_EQUAL, 0, 4, CLONE),
        (LOAD, 0, 0, ARGUMENT_0),
        (JUMP_BITS, 1, 0, CLONE_THREAD),
        (RETURN, 0, 0, ERRNO | EPERM),
        (RETURN, 0, 0, ALLOW),
    ]
    for number in sorted({*REFUSED.values(), *more.values()}):
        steps += [(JUMP_EQUAL, 0, 1, number), (RETURN, 0, 0, ERRNO | EPERM)]
    steps.append((RETURN, 0, 0, ALLOW))
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def load(rules: bytes) -> None:
    """Set a filter for this process and all that it becomes.

    Raises:
        OSError: the kernel did not take it.
    """

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    given = Filter(len(rules) // 8, rules)
    no_new_privs, set_seccomp, by_filter = 38, 22, 2
    if libc.prctl(no_new_privs, 1, 0, 0, 0) or libc.prctl(
        set_seccomp, by_filter, ctypes.byref(given), 0, 0
    ):
        raise OSError(ctypes.get_errno(), "no seccomp filter")


if (
    __name__ == "__main__"
):  # the box of a container: without sockets become the program that is named
    load(program(SOCKETS))
    os.execv(sys.executable, [sys.executable, "-I", *sys.argv[1:]])
