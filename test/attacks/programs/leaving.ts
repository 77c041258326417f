import { onSquare } from '../attack.ts';

/** Leaving early in the hope that no news is good news. */
export const leaving = onSquare({
  'exit with status 0 at import': 'os._exit(0)\ndef f(x): return x',
  'exit with status 0 in the call': 'os._exit(0)',
  'sys.exit(0) at import': 'sys.exit(0)\ndef f(x): return x',
  'sys.exit(0) in the call': 'sys.exit(0)',
  'exit after printing a verdict':
    'print("passed", flush=True)\nprint("pass", file=sys.stderr, flush=True)\nos._exit(0)',
  'exit handler that prints a verdict':
    'import atexit\natexit.register(lambda: os.write(1, b"passed"))\ndef f(x): sys.exit(0)',
  'raise KeyboardInterrupt': 'raise KeyboardInterrupt',
  'raise GeneratorExit': 'raise GeneratorExit',
  'raise StopIteration at import': 'raise StopIteration',
  'raise a BaseException that is no Exception': 'class B(BaseException): pass\ndef f(x): raise B("passed")',
  'raise an exception whose text exits': 'class B(Exception):\n  def __str__(s): os._exit(0)\ndef f(x): raise B',
  'raise an exception with a lying class':
    'class M(type):\n  def __instancecheck__(c, o): return True\nclass B(Exception, metaclass=M): pass\ndef f(x): raise B',
  'raise AssertionError, then succeed':
    'seen = []\ndef f(x):\n  seen.append(x)\n  if len(seen) < 3: raise AssertionError\n  return seen',
  'claim MemoryError': 'raise MemoryError',
  'segmentation fault': 'ctypes.string_at(0)',
  abort: 'os.abort()',
  'kill itself': 'os.kill(os.getpid(), 9)',
  'stop itself': 'os.kill(os.getpid(), signal.SIGSTOP)',
  'interrupt itself': 'os.kill(os.getpid(), signal.SIGINT)\ntime.sleep(1)',
  'fork and answer from the child': 'if os.fork() == 0:\n  return x * x + 7 + 1\nos._exit(0)',
  'fork at import and leave the parent': 'if os.fork(): os._exit(0)\ndef f(x): return 8',
  'a coroutine for an answer': 'async def f(x): return "passed"',
});
