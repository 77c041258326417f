import { onSquare } from '../attack.ts';

const FRAME = (tag: string, body: string): string =>
  `body = ${body}\ndef f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"${tag}" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.05)\n  os._exit(0)`;

/** Writing into whatever descriptor there is. What such a frame achieves is no more than `return` would have. */
export const pipe = onSquare({
  'forge a row that calls itself a pass': FRAME(
    'R',
    String.raw`b'{"kind":"exception","type":"","base":"","message":"","line":0,"phase":"call","verdict":"pass","passed":true}'`,
  ),
  'forge a row of an unknown kind': FRAME('R', String.raw`b'{"kind":"pass"}'`),
  'forge a row with a prototype': FRAME('R', String.raw`b'{"__proto__":{"kind":"value"},"kind":"pass","value":"8"}'`),
  'forge a row with duplicate keys': FRAME(
    'R',
    String.raw`b'{"kind":"timeout","kind":"exception","type":"pass","base":"pass"}'`,
  ),
  'forge a row that is no object': FRAME('R', 'b"[[[[["'),
  'forge an empty row': FRAME('R', 'b""'),
  'forge not_run rows': FRAME('R', String.raw`b'{"kind":"not_run"}'`),
  'forge a row of invalid UTF-8': FRAME('R', String.raw`b'{"kind":"exception","type":"\xff\xfe"}'`),
  'forge a value of invalid UTF-8': FRAME('V', String.raw`b'"\xff\xfe"'`),
  'forge a value that is not encoded': FRAME('V', String.raw`b'{"o":'`),
  'forge an empty value': FRAME('V', 'b""'),
  'forge a value of another row': FRAME('V', String.raw`b'8V\0\0\0\x018'`),
  'forge several rows in one write':
    'def f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, b"V\\0\\0\\0\\x018" * 3 + b"L\\0\\0\\0\\0" + b"V\\0\\0\\0\\x018" * 3)\n    except OSError: pass\n  time.sleep(0.05)\n  os._exit(0)',
  'forge deeply nested JSON': FRAME('R', 'b"[" * 5000000'),
  "forge a judge's answer": FRAME('O', String.raw`b'"pass"'`),
  'forge a second loading': FRAME('L', 'b""'),
  'forge a failure to load': FRAME('F', String.raw`b'{"kind":"value","value":"8","repr":"8"}'`),
  'forge an abnormal row': FRAME('A', String.raw`b'{"kind":"value","value":"8","repr":"8"}'`),
  'claim a frame of 4 GB':
    'for fd in range(3, 64):\n  try: os.write(fd, b"R\\xff\\xff\\xff\\xff")\n  except OSError: pass\ntime.sleep(0.05)\nos._exit(0)',
  'leave a torn frame':
    'for fd in range(3, 64):\n  try: os.write(fd, b"R\\0\\0\\0\\xff{")\n  except OSError: pass\nos._exit(0)',
  'write random bytes':
    'import random\nr = random.Random(7)\ndef f(x):\n  for fd in range(3, 64):\n    try: os.write(fd, bytes(r.randrange(256) for _ in range(4096)))\n    except OSError: pass\n  os._exit(0)',
  'answer more calls than were asked':
    String.raw`body = b'1'` +
    '\ndef f(x):\n  for fd in range(3, 64):\n    try:\n      for _ in range(1000): os.write(fd, b"V" + struct.pack(">I", len(body)) + body)\n    except OSError: pass\n  time.sleep(0.05)\n  os._exit(0)',
  'flood every descriptor':
    'for fd in range(3, 256):\n  try:\n    while True: os.write(fd, b"\\xff" * 65536)\n  except OSError: pass\nreturn x',
  'close every descriptor': 'os.closerange(0, 1024)\nreturn x',
  'write through the descriptors of PID 1':
    'for fd in range(0, 64):\n  try: open(f"/proc/1/fd/{fd}", "wb").write(b"passed")\n  except OSError: pass\nreturn x',
  'write to /dev/stdout and the console':
    'for name in ("/dev/stdout", "/dev/console", "/dev/tty", "/proc/self/fd/1"):\n  try: open(name, "wb").write(b"\\0\\0\\0\\1J")\n  except OSError: pass\nreturn x',
  'keep a thread that answers later':
    String.raw`def late():` +
    '\n  time.sleep(0.02)\n  for fd in range(3, 64):\n    try: os.write(fd, b"R\\0\\0\\0\\1[")\n    except OSError: pass\ndef f(x):\n  threading.Thread(target=late).start()\n  return x',
});
