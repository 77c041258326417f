import { onSquare } from '../attack.ts';

/** Replacing what a harness in the same process might use. */
export const patching = onSquare({
  'replace AssertionError': 'builtins.AssertionError = type("A", (BaseException,), {})\ndef f(x): return x',
  'replace all, any, len, type, isinstance':
    'for n in ("all", "any", "len", "type", "isinstance", "abs", "sorted", "set"): setattr(builtins, n, lambda *a, **k: True)\ndef f(x): return x',
  'replace numpy.allclose':
    'import numpy as np\nnp.allclose = np.isclose = np.array_equal = lambda *a, **k: True\ndef f(x): return float(x)',
  'replace math.isclose': 'import math\nmath.isclose = lambda *a, **k: True\ndef f(x): return float(x)',
  'replace json and os.write':
    'json.dumps = builtins.repr = lambda *a, **k: "[8]"\nos.write = lambda *a: 0\ndef f(x): return x',
  'replace the encoder that it can see':
    'for m in list(sys.modules.values()):\n  for n in ("encode", "_quote", "_dumps", "send", "canonical"):\n    if hasattr(m, n):\n      try: setattr(m, n, lambda *a, **k: "8")\n      except Exception: pass\ndef f(x): return x',
  'replace builtins as a whole': 'builtins.__dict__.clear()\ndef f(x): return x',
  'install excepthook, profiler and tracer':
    'sys.excepthook = lambda *a: os._exit(0)\nsys.setprofile(lambda *a: None)\nsys.settrace(lambda *a: None)\nthreading.setprofile(lambda *a: None)\ndef f(x): return x',
  'trace the caller and set its locals':
    'def t(frame, event, arg):\n  for k in list(frame.f_locals):\n    if k in ("value", "text", "row"): frame.f_locals[k] = "8"\n  return t\ndef f(x):\n  sys.settrace(t)\n  g = sys._getframe()\n  while g: g.f_trace = t; g = g.f_back\n  return x',
  'change the small integers': 'def f(x):\n  ctypes.memmove(id(x) + 24, struct.pack("i", x * x + 8), 4)\n  return x',
  'change its own entry point between calls': 'def f(x):\n  global f\n  f = lambda x: 9\n  return x',
  'edit the callers’ frames through gc':
    'for o in gc.get_objects():\n  if isinstance(o, list) and len(o) < 100:\n    try: o.append("passed")\n    except Exception: pass\n  if isinstance(o, dict) and "passed" in o: o["passed"] = True\nreturn x',
  'write into every shared memory and value':
    'for o in gc.get_objects():\n  if type(o).__name__ in ("Synchronized", "Value", "SharedMemory", "mmap"):\n    try: o.value = 1\n    except Exception: pass\nreturn x',
  'import hook that serves another module':
    'class H:\n  def find_spec(s, n, p=None, t=None): sys.modules[n] = types.SimpleNamespace(); return None\nsys.meta_path.insert(0, H())\ndef f(x): return x',
  'pretend to be the runner’s modules':
    'sys.modules["qf_encoding"] = sys.modules["qf_child"] = types.SimpleNamespace(encode=lambda *a: "8")\ndef f(x): return x',
});
