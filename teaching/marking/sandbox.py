"""A child process that may compute, and little else: what holds a student's code on Linux.

==================  ===========================================================================
time                wall clock, watched from outside; processor seconds by RLIMIT_CPU
memory              RLIMIT_AS: what the lecture already holds, and ``memory`` bytes more
network             an empty network namespace, without even loopback; and `socket` is refused
files               Landlock: written only below its own temporary folder, read only there and
                    where Python, the package and the system's libraries lie, never the other
                    submissions; a file at most ``FILE`` bytes; no program can be started
processes           a process namespace of its own, which ends with it: it signals no other
                    process; seccomp refuses new ones, and threads
output              goes nowhere; what is printed beyond ``PRINTED`` characters ends the call
==================  ===========================================================================

Where one of the three is missing (a container may forbid namespaces, kernels before 5.13 have no
Landlock, the filter knows x86-64 and ARM64), `missing` says which, and the command refuses unless
it is told to go on. None of it holds against a fault in the kernel; and the lecture's own memory
can be read, solutions to checks included, as anybody can read them who installs the package.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import io
import os
import platform
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

FILE = 64 << 20
PRINTED = 10_000_000
SENT = 64 << 20  # bytes of an answer
CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 1 << 27, 1 << 28, 1 << 29, 1 << 30
PDEATHSIG, NO_NEW_PRIVS = 1, 38  # of prctl
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on every architecture
READ = (1 << 2) | (1 << 3)  # READ_FILE, READ_DIR
EXECUTE, WRITE_FILE, TRUNCATE = 1 << 0, 1 << 1, 1 << 14
# by machine: its number, and those of socket, clone, fork, vfork, clone3 and ptrace
MACHINES = {
    "x86_64": (0xC000003E, (41, 56, 57, 58, 435, 101)),
    "aarch64": (0xC00000B7, (198, 220, 435, 117)),
}
libc = ctypes.CDLL(None, use_errno=True)
libc.prctl.argtypes = [ctypes.c_int, *[ctypes.c_ulong] * 4]


class Stopped(BaseException):
    """A call was ended from outside; beyond `Exception`, for a check reports those as its own."""


class Flood(BaseException):
    """More was printed than anybody reads."""


@dataclass(frozen=True)
class Limits:
    """What an exercise may take: seconds of wall clock, bytes of memory beyond the lecture's."""

    seconds: float = 60.0
    memory: int = 2 << 30


class Capped(io.TextIOBase):
    """Where prints go: nowhere, and not without end."""

    def __init__(self) -> None:
        self.count = 0

    def write(self, text: str, /) -> int:
        self.count += len(text)
        if self.count > PRINTED:
            raise Flood
        return len(text)


def close_network() -> None:
    """Give this process and its children a network without an interface.

    Raises: OSError where the system forbids it.
    """
    _call(libc.unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC), "unshare")


def refuse_calls() -> None:
    """Let the kernel refuse sockets, processes and threads to this process (seccomp).

    Raises: OSError where the machine is unknown or the system forbids it.
    """
    if platform.machine() not in MACHINES:
        raise OSError(errno.ENOSYS, f"seccomp: no list of calls for {platform.machine()}")
    number, refused = MACHINES[platform.machine()]
    allow, kill, deny = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM
    count = len(refused)
    program = [
        (0x20, 0, 0, 4),  # load the machine
        (0x15, 1, 0, number),  # another one's numbers would mean other calls
        (0x06, 0, 0, kill),
        (0x20, 0, 0, 0),  # load the call's number
        (0x35, count + 1, 0, 1 << 30),  # x86-64's second table of numbers
        *((0x15, count - k, 0, call) for k, call in enumerate(refused)),
        (0x06, 0, 0, allow),
        (0x06, 0, 0, deny),
    ]
    held = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *line) for line in program))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(held))
    program_of = ctypes.create_string_buffer(header)
    _call(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _call(libc.prctl(22, 2, ctypes.addressof(program_of), 0, 0), "seccomp")


def missing() -> list[str]:
    """Name what this system does not hold: found by trying, in a child."""
    lacks = []
    tries = {
        "namespaces": close_network,
        "Landlock": lambda: shut([]),
        "seccomp": refuse_calls,
    }
    for name, attempt in tries.items():
        pid = os.fork()
        if pid == 0:
            try:
                attempt()
                os._exit(0)
            except BaseException:
                os._exit(1)
        if os.waitpid(pid, 0)[1]:
            lacks.append(name)
    return lacks


def shut(readable: Iterable[Path], writable: Iterable[Path] = ()) -> None:
    """Let this process, for good, write below some folders and read below others (Landlock)."""
    version = libc.syscall(CREATE_RULESET, None, 0, 1)
    _call(version, "Landlock")
    every = (1 << 13) - 1
    every |= (1 << 13 if version >= 2 else 0) | (TRUNCATE if version >= 3 else 0)
    every |= 1 << 15 if version >= 5 else 0  # devices' own commands
    network = 3 if version >= 4 else 0  # TCP, bind and connect
    scoped = 3 if version >= 6 else 0  # abstract sockets, signals
    attributes = struct.pack("QQQ", every, network, scoped)
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = libc.syscall(CREATE_RULESET, attributes, size, 0)
    _call(rules, "landlock_create_ruleset")
    of_files = (READ | EXECUTE | WRITE_FILE | TRUNCATE | (1 << 15)) & every & ~(1 << 3)
    for paths, rights in ((readable, READ), (writable, every & ~EXECUTE)):
        for path in paths:
            try:
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue  # what is not there needs no rule
            allowed = rights if path.is_dir() else rights & of_files
            rule = struct.pack("=Qi", allowed, handle)
            _call(libc.syscall(ADD_RULE, rules, 1, rule, 0), f"landlock_add_rule {path}")
            os.close(handle)
    _call(libc.prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "prctl")
    _call(libc.syscall(RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    os.close(rules)


def readable() -> list[Path]:
    """Where code and libraries lie: Python's own folders, and the system's."""
    found = [sys.prefix, sys.base_prefix, *(path for path in sys.path if path)]
    system = ["/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/proc/self"]
    system += ["/proc/cpuinfo", "/proc/meminfo", "/sys/devices/system/cpu"]
    system += ["/dev/null", "/dev/zero", "/dev/urandom"]
    return [Path(path).resolve() for path in (*found, *system)]


REASONS = {
    3: "ended its own process",
    4: "took more than {memory:g} GB of memory, or crashed",
    2: "ran longer than {seconds:g} s",
    5: f"printed more than {PRINTED:,} characters",
    6: "took all its processor time",
}


class Pipes:
    """The child's end: messages of bytes, each after its length."""

    def __init__(self, inward: int, outward: int) -> None:
        self.inward, self.outward = inward, outward

    def send(self, message: bytes) -> None:
        view = memoryview(len(message).to_bytes(8, "big") + message)
        while view:
            view = view[os.write(self.outward, view) :]

    def receive(self) -> bytes:
        """Return the next message.

        Raises: EOFError where there will be none.
        """
        return self._read(int.from_bytes(self._read(8), "big"))

    def _read(self, count: int) -> bytes:
        held = bytearray()
        while len(held) < count:
            more = self._some(min(count - len(held), 1 << 20))
            if not more:
                raise EOFError
            held += more
        return bytes(held)

    def _some(self, most: int) -> bytes:
        return os.read(self.inward, most)


class Child(Pipes):
    """A child that is shut in ``folder`` and does ``work(pipes)``; here is the marker's end.

    What it sends is only bytes. All that it does shares one measure of time and memory. Of
    ``receive`` and ``send``, either raises `Stopped`, which says why, where the child was ended or
    ended itself.
    """

    def __init__(
        self,
        work: Callable[[Pipes], None],
        folder: Path,
        limits: Limits,
        *,
        guarded: bool = True,
    ) -> None:
        asked, told = os.pipe(), os.pipe()
        self.limits = limits
        self.until = time.monotonic() + limits.seconds + 5  # the watch ends it before
        self.process = os.fork()
        if self.process == 0:
            code = 1
            try:
                os.close(asked[1])
                os.close(told[0])
                code = _watch(work, folder, limits, Pipes(asked[0], told[1]), guarded)
            finally:
                os._exit(code)
        os.close(asked[0])
        os.close(told[1])
        super().__init__(told[0], asked[1])

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process:
            os.kill(self.process, signal.SIGKILL)  # the child has asked to end with its watch
            self._status()
        os.close(self.inward)
        os.close(self.outward)

    def send(self, message: bytes) -> None:
        try:
            super().send(message)
        except BrokenPipeError:
            raise self._stopped() from None

    def receive(self) -> bytes:
        try:
            length = int.from_bytes(self._read(8), "big")
            if length > SENT:
                raise Stopped(f"returned more than {SENT >> 20} MB")
            return self._read(length)
        except EOFError:
            raise self._stopped() from None

    def _some(self, most: int) -> bytes:
        left = self.until - time.monotonic()
        if left <= 0 or not select.select([self.inward], [], [], left)[0]:
            return b""
        return super()._some(most)

    def _stopped(self) -> Stopped:
        late = time.monotonic() >= self.until
        if late:
            os.kill(self.process, signal.SIGKILL)
        status = self._status()
        words = REASONS.get(2 if late else status or 3, "its process could not be shut in")
        gigabytes = self.limits.memory / (1 << 30)
        return Stopped(words.format(memory=gigabytes, seconds=self.limits.seconds))

    def _status(self) -> int:
        status, self.process = os.waitpid(self.process, 0)[1], 0
        return os.waitstatus_to_exitcode(status)


def _watch(
    work: Callable[[Pipes], None], folder: Path, limits: Limits, pipes: Pipes, guarded: bool
) -> int:
    """Fork the child, wait, end it in time; the exit code says what became of it."""
    _call(libc.prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    if guarded:
        _call(libc.unshare(CLONE_NEWPID), "unshare")
    child = os.fork()
    if child == 0:
        try:
            _inside(work, folder, limits, pipes, guarded)
        except MemoryError:
            os._exit(4)
        except Flood:
            os._exit(5)
        except BaseException:
            os._exit(1)
        os._exit(0)
    os.close(pipes.inward)
    os.close(pipes.outward)
    handle = os.pidfd_open(child)
    late = not select.select([handle], [], [], limits.seconds)[0]
    if late:
        os.kill(child, signal.SIGKILL)
    _, status, _ = os.wait4(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if late:
        return 2
    if code < 0:
        return 6 if -code in (signal.SIGXCPU,) else 4
    return code if code in (0, 1, 4, 5) else 3


def _inside(
    work: Callable[[Pipes], None], folder: Path, limits: Limits, pipes: Pipes, guarded: bool
) -> None:
    """Shut this process in, and work."""
    _call(libc.prctl(PDEATHSIG, signal.SIGKILL, 0, 0, 0), "prctl")
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 8) for end in (pipes.inward, pipes.outward)]
    for place, end in enumerate((null, null, null, *ends)):
        os.dup2(end, place)
    os.closerange(5, 1 << 16)
    os.chdir(folder)
    os.environ.update(HOME=str(folder), TMPDIR=str(folder))
    sys.stdout = sys.stderr = Capped()
    cpu = int(limits.seconds) + 1
    for name, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, FILE),
        (resource.RLIMIT_CPU, cpu),
        (resource.RLIMIT_AS, _size() + limits.memory),
        (resource.RLIMIT_NPROC, 0),
    ):
        resource.setrlimit(name, (value, value))
    if guarded:
        shut(readable(), [folder])
        # no power over the namespace that the marker is in
        _call(libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24)), "capset")
        refuse_calls()
    work(Pipes(3, 4))


def keep_within(memory: int) -> None:
    """Let this process itself, which runs what checks hand to answers, take no more memory."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_size() + memory, most))


def _size() -> int:
    """Bytes of this process's address space."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _call(result: int, what: str) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
