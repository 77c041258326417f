import type { EncodedValue, Program } from '../sandbox/sandbox.ts';

/**
 * Some EvalPlus tasks return megabytes for each of a hundred tests. Such a program is run with this wrapper: a value that is large
 * comes back as a digest of its serialised form, and only where two digests differ is that one test run again in full.
 * A program that computes the right digest without the value has computed the value; one that lies has returned a wrong value.
 */
const ENTRY = '__qf_digested';
const MARK = 'qf-digest';

/** Bytes of `marshal` data. Below this a value travels as it is. */
const LARGE_BYTES = 4096;

export function digesting({ source, entryPoint }: Program): Program {
  return {
    entryPoint: ENTRY,
    source: `${source}
import marshal as __qf_marshal
def ${ENTRY}(*args):
    value = globals()[${JSON.stringify(entryPoint)}](*args)
    kind = type(value)
    # What is surely small.
    if kind is bool or kind is float or kind is int and -1 << 60 < value < 1 << 60 or kind is str and len(value) < 1000:
        return value
    try:
        data = __qf_marshal.dumps(value, 2)
    except ValueError:
        return value
    if len(data) <= ${LARGE_BYTES}:
        return value
    import hashlib
    floats = type(value) in (list, tuple) and all(type(item) is float for item in value)
    return (${JSON.stringify(MARK)}, hashlib.sha256(data).hexdigest(), floats)
`,
  };
}

/**
 * The canonical solution, digesting, with a clock: called with this argument alone, it returns the CPU microseconds of each call so far
 * (what digesting takes is part of them, as it is part of a candidate's). For trusted programs only; a candidate could say what it likes.
 */
export const TIMES_CALL = '[["__qf_times"],{"d":[]}]';
const TIMED_ENTRY = '__qf_timed';

export function timed(program: Program): Program {
  const { source, entryPoint } = digesting(program);
  return {
    entryPoint: TIMED_ENTRY,
    source: `${source}
import time as __qf_time
__qf_spent = []
def ${TIMED_ENTRY}(*args):
    if args == ("__qf_times",):
        return __qf_spent
    start = __qf_time.process_time()
    try:
        return ${entryPoint}(*args)
    finally:
        __qf_spent.append(round((__qf_time.process_time() - start) * 1e6))
`,
  };
}

/** A digest of a list or tuple of nothing but floats. */
export function isDigestOfFloats(value: EncodedValue): boolean {
  return isDigest(value) && value.endsWith(',true]}');
}

export function isDigest(value: EncodedValue): boolean {
  return value.startsWith(`{"t":["${MARK}",`);
}
