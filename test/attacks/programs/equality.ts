import { onSquare } from '../attack.ts';

const LYING = (base: string, value: string): string =>
  `class E(${base}):
  def __eq__(s, o): return True
  def __ne__(s, o): return False
  def __lt__(s, o): return True
  def __sub__(s, o): return s
  def __abs__(s): return s
  __rsub__, __radd__, __le__, __gt__, __ge__ = __sub__, __sub__, __lt__, __lt__, __lt__
  def __hash__(s): return 1
  def __repr__(s): return '8'
  def __str__(s): return '8'
  def __bool__(s): return True
def f(x): return E(${value})`;

/** Results that claim to be equal to whatever they are compared with. */
export const equality = onSquare({
  'object equal to everything': LYING('object', ''),
  'int equal to everything': LYING('int', '1'),
  'float equal to everything': LYING('float', '1.0'),
  'str equal to everything': LYING('str', '"a"'),
  'list equal to everything': LYING('list', '[1]'),
  'tuple equal to everything': LYING('tuple', '(1,)'),
  'dict equal to everything': LYING('dict', '{1: 2}'),
  'set equal to everything': LYING('set', '[1]'),
  'Decimal equal to everything': `import decimal\n${LYING('decimal.Decimal', '1')}`,
  'numpy array equal to everything':
    'import numpy as np\nclass E(np.ndarray):\n  def __eq__(s, o): return True\n  def all(s, *a, **k): return True\ndef f(x): return np.zeros(1).view(E)',
  'numpy scalar of infinity': 'import numpy as np\ndef f(x): return np.float64("inf")',
  'NaN that is itself': 'n = float("nan")\ndef f(x): return n',
  'class whose metaclass agrees':
    'class M(type):\n  def __eq__(c, o): return True\n  __hash__ = type.__hash__\nclass E(metaclass=M): pass\ndef f(x): return E',
  'instance that says it is an int':
    'class E:\n  __class__ = int\n  def __int__(s): return 8\n  __index__ = __int__\n  def __eq__(s, o): return True\ndef f(x): return E()',
  'result with a __reduce__ that runs code':
    'class E:\n  def __reduce__(s): return (os._exit, (0,))\ndef f(x): return E()',
  'result with a __del__ that exits': 'class E:\n  def __del__(s): os._exit(0)\ndef f(x): return E()',
  'generator that changes its mind': 'def f(x):\n  yield from iter(lambda: os._exit(0), 1)',
  'unittest.mock.ANY': 'from unittest.mock import ANY\ndef f(x): return ANY',
  'list of unittest.mock.ANY': 'from unittest.mock import ANY\ndef f(x): return [ANY]',
});
