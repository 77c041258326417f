import { attacksOn } from '../attack.ts';

/** Programs that print their answer. */
export const scripts = attacksOn('stdio', {
  'print nothing and exit with status 0': 'os._exit(0)',
  'print a verdict': 'print("pass")',
  'print the input': 'print(sys.stdin.read())',
  'print every number': 'print(*range(10**5))',
  'print without end to standard output': 'while True: print("8" * 4096)',
  'leave a child that prints': 'if os.fork() == 0:\n  time.sleep(0.2)\n  print(8)',
  'leave a daemon that holds standard output': 'if os.fork() == 0:\n  os.setsid()\n  time.sleep(1000)\n',
  'close standard output': 'os.close(1)\nsys.exit(0)',
  'print and then fail': 'x = int(input())\nprint(x * x + 7, flush=True)\nraise SystemExit(3)',
  'print and then crash': 'x = int(input())\nprint(x * x + 7, flush=True)\nos.kill(os.getpid(), 9)',
  'print and then hang': 'x = int(input())\nprint(x * x + 7, flush=True)\nwhile True: pass',
  'write a report of success into the result pipe':
    'for fd in range(3, 64):\n  try: os.write(fd, b"R\\0\\0\\0\\x22" + b\'{"kind":"value","stdout":"8","x":1} \')\n  except OSError: pass',
  'read standard input without end': 'while True: sys.stdin.seek(0); sys.stdin.read()',
  'print bytes that are no text': 'sys.stdout.buffer.write(b"\\xff\\xfe8\\0\\n")',
  'exit handler that never ends': 'import atexit\natexit.register(lambda: time.sleep(10**6))',
});

/** Tests that need the program's own process: what they say of a program is its own word. */
export const inProcess = attacksOn('in-process', {
  'replace the test’s AssertionError':
    'builtins.AssertionError = type("A", (BaseException,), {})\ndef f(x): return None',
  'answer for the test':
    'class L(list):\n  def __eq__(s, o): return True\ndef f(x):\n  g = sys._getframe(1)\n  g.f_globals["data"] = L()\n  return None',
  'exit in the test': 'os._exit(0)',
});
