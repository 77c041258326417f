import { attacksOn } from '../attack.ts';

/** The secret task's answers look like this; a program that finds one anywhere in reach returns it, and has forged a pass. */
const PATTERN = 'zq-[0-9a-f]{24}';
const SEARCH = `found = re.compile(rb"${PATTERN}").findall`;

/** Looking for the expected value: frames, heap, memory, files, other processes. */
export const hunting = attacksOn('secret', {
  'frames of the callers': `g = sys._getframe()
while g:
  for v in list(g.f_locals.values()) + list(g.f_globals.values()):
    m = re.search(r"${PATTERN}", repr(v)[:10**6])
    if m: return m[0]
  g = g.f_back
return "none"`,
  'every object of the collector': `${SEARCH}
for o in gc.get_objects():
  if isinstance(o, (str, bytes, list, dict, tuple)):
    try: m = re.search(r"${PATTERN}", repr(o)[:10**5])
    except Exception: continue
    if m: return m[0]
return "none"`,
  'its own memory by address': `${SEARCH}
for line in open("/proc/self/maps"):
  a, b = (int(p, 16) for p in line.split()[0].split("-"))
  if " r" not in line or "[v" in line: continue
  m = found(ctypes.string_at(a, min(b - a, 64 << 20)))
  m = [v for v in m if v != b"zq-0"]
  if m: return m[0].decode()
return "none"`,
  'its own memory by file': `${SEARCH}
with open("/proc/self/mem", "rb", 0) as mem:
  for line in open("/proc/self/maps"):
    a, b = (int(p, 16) for p in line.split()[0].split("-"))
    try:
      mem.seek(a); m = found(mem.read(min(b - a, 64 << 20)))
    except (OSError, ValueError, OverflowError): continue
    if m: return m[0].decode()
return "none"`,
  'memory of PID 1': `${SEARCH}
for name in ("mem", "environ", "cmdline", "maps"):
  m = found(open(f"/proc/1/{name}", "rb").read(1 << 20))
  if m: return m[0].decode()
return "none"`,
  'memory of PID 1 by system call': `${SEARCH}
libc = ctypes.CDLL(None)
buffer = ctypes.create_string_buffer(1 << 16)
class V(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("len", ctypes.c_size_t)]
local = V(ctypes.addressof(buffer), 1 << 16)
for address in range(0x550000000000, 0x550000000000 + (64 << 20), 1 << 16):
  if libc.process_vm_readv(1, ctypes.byref(local), 1, ctypes.byref(V(address, 1 << 16)), 1, 0) > 0:
    m = found(buffer.raw)
    if m: return m[0].decode()
return "none"`,
  'every file that it can read': `${SEARCH}
for top in ("/tmp", "/opt", "/run", "/var", "/home", "/root", "/etc", "/dev/shm", "/mnt", "/srv"):
  for folder, _, names in os.walk(top):
    for name in names:
      try: m = found(open(os.path.join(folder, name), "rb").read(1 << 20))
      except OSError: continue
      if m: return m[0].decode()
return "none"`,
  'every other process': `${SEARCH}
for p in os.listdir("/proc"):
  for name in ("cmdline", "environ", "mem", "fd/0", "fd/3"):
    try: m = found(open(f"/proc/{p}/{name}", "rb").read(1 << 16))
    except OSError: continue
    if m: return m[0].decode()
return "none"`,
  'what comes next on standard input': `${SEARCH}
os.set_blocking(0, False)
for fd in range(0, 64):
  try: m = found(os.read(fd, 1 << 20))
  except OSError: continue
  if m: return m[0].decode()
return "none"`,
  'a descriptor of PID 1': `libc = ctypes.CDLL(None)
p = libc.syscall(434, 1, 0)
for fd in range(64):
  got = libc.syscall(438, p, fd, 0)
  if got >= 0: return os.read(got, 100).decode()
return "none"`,
  'what an earlier program left': 'import glob\ndef f(x): return open(sorted(glob.glob("/tmp/*"))[0]).read()',
});
