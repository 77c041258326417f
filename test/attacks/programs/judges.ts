import { onSquare } from '../attack.ts';

const FORGED = (value: string): string =>
  `value = ${value}\nbody = value.encode()\ndef f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"V" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.05)\n  os._exit(0)`;

/** Values made to harm whoever decodes or compares them: the judge, which sees them beside the values of other programs. */
export const judges = onSquare({
  'an array of a thousand million items': FORGED(`'{"a":["float64",[1000000000],[]]}'`),
  'an array of a dtype with code': FORGED(`'{"a":["object",[1],[{"o":["os.system","x",true]}]]}'`),
  'an array of records': FORGED(`'{"a":["V1000000000",[1],[1]]}'`),
  'a numpy scalar of an unknown dtype': FORGED(`'{"n":["__import__(\\'os\\')._exit(0)",1]}'`),
  'a range without end': FORGED(`'{"r":[0,1e400,1]}'`),
  'a range of a google': FORGED(`'{"r":[0,{"i":"0x' + "f" * 1000 + '"},1]}'`),
  'a Decimal with a great exponent': FORGED(`'{"k":["decimal.Decimal",["1e999999999999"]]}'`),
  'a Fraction by zero': FORGED(`'{"k":["fractions.Fraction",[1,0]]}'`),
  'a constructor that it should not have': FORGED(`'{"k":["os.system",["echo 8"]]}'`),
  'a deque of bounded length zero': FORGED(`'{"k":["collections.deque",[[],-1]]}'`),
  'an iterator that claims more': FORGED(`'{"g":["generator",[1],1]}'`),
  'a subclass of anything': FORGED(`'{"u":["unittest.mock._ANY",8]}'`),
  'a defaultdict with a factory': FORGED(`'{"u":["collections.defaultdict",{"d":[]}]}'`),
  'an integer of eight million digits': FORGED(`'{"i":"0x' + "f" * (7 << 20) + '"}'`),
  'a decimal integer beyond the digit limit': FORGED(`'9' * 100000`),
  'a float that is code': FORGED(`'{"f":"__import__(\\"os\\")"}'`),
  'an infinite float': FORGED(`'1e999'`),
  'bytes of an odd number of digits': FORGED(`'{"b":"abc"}'`),
  'nesting a million deep': FORGED(`'[' * 1000000 + ']' * 1000000`),
  'a set of unhashable things': FORGED(`'{"s":[[],[]]}'`),
  'an object with two tags': FORGED(`'{"t":[8],"f":"8.0"}'`),
  'a lone surrogate': FORGED(`'"\\\\ud800"'`),
  'a text that breaks lines in JavaScript': FORGED(`'"\\\\u2028\\\\u2029"'`),
  'terminal escapes in its repr':
    'class E:\n  def __repr__(s): return "\\x1b]0;pass\\x07\\x1b[2J" * 10\ndef f(x): return E()',
  'terminal escapes in its exception': 'raise ValueError("\\x1b[2J\\r\\0pass")',
  'an exception of a forged class':
    String.raw`body = b'{"kind":"exception","type":"A","base":"AssertionError","standard":"os.system","details":"[[8],{\\"d\\":[]}]","message":"","line":-1,"phase":"call"}'` +
    '\ndef f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"R" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.05)\n  os._exit(0)',
});
