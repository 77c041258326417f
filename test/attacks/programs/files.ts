import { onSquare } from '../attack.ts';

/** The file system: filling it, locking it, leaving it, changing what others will read. */
export const files = onSquare({
  'fill /tmp': 'with open("/tmp/a", "wb") as a:\n  while True: a.write(b"x" * 65536)',
  'fill /tmp with many files': 'i = 0\nwhile True:\n  i += 1\n  open(f"/tmp/{i}", "wb").write(b"x" * (4 << 20))',
  'use up the inodes': 'for i in range(10**6): open(f"/tmp/{i}", "w").close()',
  'fill memory files':
    'y = []\nwhile True:\n  fd = os.memfd_create("a")\n  y.append(fd)\n  os.write(fd, b"x" * (16 << 20))',
  'leave a locked and deep tree':
    'for i in range(60):\n  os.mkdir("d"); os.chdir("d")\nos.mkfifo("p"); os.symlink("/", "s"); os.chmod("..", 0); os.chmod("/tmp/d", 0)\nreturn x',
  'leave a tree too deep to remove': 'for i in range(3000):\n  os.mkdir("d"); os.chdir("d")\nreturn x',
  'leave names that are no text':
    'for n in (b"\\xff\\xfe", b"-rf", b"a\\nb", b"\\x1b[2J"):\n  open(b"/tmp/" + n, "w").close()\nreturn x',
  'leave hard links and symbolic links':
    'open("/tmp/a", "w").close()\nfor i in range(50):\n  os.link("/tmp/a", f"/tmp/h{i}"); os.symlink("/proc/1", f"/tmp/s{i}")\nreturn x',
  'leave a module that shadows the library':
    'for n in ("json", "os", "random", "qf_encoding", "sitecustomize"):\n  open(f"/tmp/{n}.py", "w").write("raise SystemExit")\nreturn x',
  'remove everything': 'import shutil\ndef f(x):\n  shutil.rmtree("/", ignore_errors=True)\n  return x',
  'remove the runner':
    'import glob\ndef f(x):\n  for n in glob.glob("/opt/qf/*"):\n    try: os.unlink(n)\n    except OSError: pass\n  return x',
  'change the working folder, mask and environment':
    'os.chdir("/"); os.umask(0o777); os.environ.clear(); os.putenv("PYTHONPATH", "/tmp")\nreturn x',
  'mount over the runner':
    'libc = ctypes.CDLL(None)\nlibc.mount(b"none", b"/opt/qf", b"tmpfs", 0, None)\nlibc.umount2(b"/tmp", 2)\nreturn x',
  'become another root': 'os.chroot("/tmp")\nreturn x',
  'become root':
    'for g in (os.setuid, os.seteuid, os.setgid):\n  try: g(0)\n  except OSError: pass\nreturn os.getuid() and x',
  'shared memory and message queues':
    'libc = ctypes.CDLL(None)\nfor i in range(100):\n  libc.shmget(i, 1 << 20, 0o1666); libc.msgget(i, 0o1666); libc.semget(i, 1, 0o1666)\nlibc.mq_open(b"/q", 0o102, 0o666, None)\nreturn x',
  'kernel settings':
    'for n in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory.max", "/proc/sys/kernel/hostname"):\n  try: open(n, "w").write("b")\n  except OSError: pass\nreturn x',
  'a safer place from the memory killer': 'open("/proc/self/oom_score_adj", "w").write("-1000")\nreturn x',
  network:
    'import socket\ndef f(x):\n  for family, kind in ((2, 1), (10, 1), (16, 3), (40, 1), (17, 3), (1, 1)):\n    try:\n      s = socket.socket(family, kind)\n      return x * x + 8\n    except OSError: pass\n  return x',
  'io_uring, bpf, keyring, userfaultfd, perf':
    'libc = ctypes.CDLL(None)\nfor n in (425, 426, 321, 250, 323, 298, 272, 308, 165, 175): libc.syscall(n, 1, 0, 0, 0, 0)\nreturn x',
});
