import { onSquare } from '../attack.ts';

/** Time, memory, output, recursion. */
export const resources = onSquare({
  'loop without end': 'while True: pass',
  'loop without end at import': 'while True: pass\ndef f(x): return x',
  'loop that catches everything': 'while True:\n  try:\n    while True: pass\n  except BaseException: pass',
  sleep: 'time.sleep(10**6)',
  'wait in the kernel for a thread of its own, as one that waits for a disk':
    'libc = ctypes.CDLL(None)\nstack = ctypes.create_string_buffer(1 << 16)\nlibc.clone.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p]\nlibc.clone(ctypes.cast(libc.pause, ctypes.c_void_p), (ctypes.addressof(stack) + (1 << 16) - 64) & ~15, 0x14F00, None)',
  'wait for a lock': 'l = threading.Lock(); l.acquire(); l.acquire()',
  'wait for a signal with all blocked':
    'signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))\nsignal.sigwait({signal.SIGUSR1})',
  'ignore every signal':
    'for n in range(1, 65):\n  try: signal.signal(n, signal.SIG_IGN)\n  except (OSError, ValueError): pass\ndef f(x):\n  while True: pass',
  'burn time below Python': 'return len(str(10 ** (10 ** 8)))',
  'a power tower': 'return 10 ** 10 ** 8 % 97',
  'backtrack in a regular expression': 'return re.match(r"(a+)+$", "a" * 40 + "b")',
  'sort what never compares':
    'class K:\n  def __lt__(s, o):\n    while True: pass\ndef f(x): return sorted([K(), K()])',
  'compile without end':
    'return eval("(" * 90 + "1" + ")" * 90) if False else compile("+".join(["1"] * 10**6), "x", "eval")',
  'take all memory': 'y = []\nwhile True: y.append(bytearray(100 << 20))',
  'take all memory and catch it':
    'y = []\nwhile True:\n  try: y.append(bytearray(100 << 20))\n  except MemoryError: pass',
  'twenty children that each take memory':
    'for _ in range(20):\n  if os.fork() == 0:\n    y = bytearray(900 << 20)\n    time.sleep(60)\ny = bytearray(900 << 20)\ntime.sleep(1)\nreturn x',
  'map memory without touching it': 'import mmap\ny = []\ndef f(x):\n  while True: y.append(mmap.mmap(-1, 1 << 30))',
  'return a thousand million items': 'return range(10**9).__iter__()',
  'return 200 MB': 'return "x" * (200 << 20)',
  'return a million objects': 'return [object() for _ in range(10**6)]',
  'return an integer of ten million digits': 'return 1 << (33 << 20)',
  'return nesting a hundred thousand deep': 'for _ in range(100000): x = [x]\nreturn x',
  'return a list that contains itself': 'y = []\ny.append(y)\nreturn y',
  'return a dict whose keys collide':
    'class K:\n  def __hash__(s): return 1\n  def __eq__(s, o): return False\ndef f(x): return {K(): 1 for _ in range(20000)}',
  'burn the stack': 'sys.setrecursionlimit(10**9)\ndef f(x): return f(x)',
  'burn the stack below Python':
    'sys.setrecursionlimit(10**9)\ndef f(x):\n  for _ in range(10**6): x = [x]\n  return repr(x)',
  'print without end': 'while True: print("x" * 65536)',
  'print without end to the error stream': 'while True: os.write(2, b"x" * 65536)',
  'raise a message of 100 MB': 'raise ValueError("x" * (100 << 20))',
  'raise a chain of exceptions':
    'e = None\nfor i in range(10**5):\n  n = ValueError(i)\n  n.__cause__ = e\n  e = n\nraise e',
  'raise its limits': 'resource.setrlimit(resource.RLIMIT_CPU, (10**6, 10**6))\nwhile True: pass',
  'lower its limits to nothing':
    'resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))\nresource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\nreturn x',
});
