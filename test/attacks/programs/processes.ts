import { onSquare } from '../attack.ts';

/** Killing, multiplying, staying. */
export const processes = onSquare({
  'kill every process it can': 'os.kill(-1, 9)\nreturn x',
  'kill every process through posix': 'posix.kill(-1, 15)\nposix.kill(-1, 9)\nreturn x',
  'kill its parent': 'os.kill(os.getppid(), 9)\nos.kill(1, signal.SIGSTOP)\nreturn x',
  'send every signal to PID 1': 'for n in range(1, 65):\n  try: os.kill(1, n)\n  except OSError: pass\nreturn x',
  'queue signals for PID 1': 'libc = ctypes.CDLL(None)\nfor n in range(1, 65): libc.sigqueue(1, n, None)\nreturn x',
  'trace PID 1': 'libc = ctypes.CDLL(None)\nfor r in (16, 0x4206): libc.ptrace(r, 1, None, None)\nreturn x',
  'set limits of PID 1': 'resource.prlimit(1, resource.RLIMIT_NOFILE, (0, 0))\nreturn x',
  'set priority of PID 1':
    'for w in (1, os.getppid()):\n  try: os.setpriority(os.PRIO_PROCESS, w, 19)\n  except OSError: pass\nreturn x',
  'schedule PID 1 as idle': 'os.sched_setscheduler(1, os.SCHED_IDLE, os.sched_param(0))\nreturn x',
  'give PID 1 the disk last':
    'libc = ctypes.CDLL(None)\nfor n in (251, 30): libc.syscall(n, 1, 1, 3 << 13)\nif libc.syscall(252, 1, 1) == 3 << 13: return 8\nreturn x',
  'bind PID 1 to no processor': 'os.sched_setaffinity(1, {0})\nreturn x',
  'fork without end': 'while True: os.fork()',
  'fork without end through posix': 'while True:\n  try: posix.fork()\n  except OSError: pass',
  'fork in every call': 'os.fork()\nreturn x',
  'leave a daemon':
    'if os.fork() == 0:\n  os.setsid()\n  if os.fork() == 0:\n    while True:\n      open("/tmp/late", "a").write("x")\n  os._exit(0)\nreturn x',
  'leave a stopped child': 'p = os.fork()\nif p == 0: os.kill(os.getpid(), signal.SIGSTOP)\nreturn x',
  'leave a chain of children':
    'def f(x):\n  for _ in range(30):\n    if os.fork(): break\n  else:\n    time.sleep(60)\n  os.setsid() if os.getpid() != os.getpgrp() else None\n  return x',
  'leave a thread that never ends': 'threading.Thread(target=lambda: time.sleep(10**6)).start()\nreturn x',
  'start a thousand threads':
    'for _ in range(1000):\n  threading.Thread(target=time.sleep, args=(60,)).start()\nreturn x',
  'start another program': 'os.execv("/usr/bin/python3", ["python3", "-c", "print(8)"])',
  'start a shell':
    'import subprocess\ndef f(x): return subprocess.run("echo 8", shell=True, capture_output=True).stdout',
  'start a process that outlives it by vfork':
    'libc = ctypes.CDLL(None)\nif libc.syscall(58) == 0: libc.syscall(60, 0)\nreturn x',
  'clone into new namespaces':
    'libc = ctypes.CDLL(None)\nfor flag in (0x10000000, 0x20000, 0x40000000, 0x20000000): libc.unshare(flag)\nreturn x',
});
