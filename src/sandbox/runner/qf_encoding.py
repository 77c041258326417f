"""Lossless tagged JSON for Python values: how inputs reach a candidate and how its outputs come back.

    encode(value)            -> ASCII text      EncodeError (too deep, cyclic), EncodeTooLarge (over max_bytes)
    decode(text)             -> value           DecodeError on anything that encode does not write
    decode_call(text)        -> (arguments, named arguments) of a call whose text encode made; fast, for text that is trusted
    canonical(text)          -> the same value with dict entries in one fixed order

None, bool, str, int within +-2**53 and list are plain JSON. Everything else is an object with one key:

    {"i": "0x.."}        int beyond 2**53 (hex has no digit limit)      {"f": repr}      float, also nan, inf, -0.0
    {"c": [repr, repr]}  complex                                        {"b"|"y": hex}   bytes, bytearray
    {"t": [..]}          tuple                                          {"s"|"z": [..]}  set, frozenset, sorted by encoding
    {"d": [[k, v], ..]}  dict in insertion order                        {"r": [a, b, c]} range
    {"w": hex}           str with two surrogates that JSON would join (UTF-32)
    {"e": 0}             Ellipsis                                       {"u": [type, base value]}  subclass of a type above
    {"n": [dtype, item]} numpy scalar                                   {"a": [dtype, shape, items]}  numpy array
    {"k": [name, [args]]}  Decimal, Fraction, deque, date, time, datetime, timedelta (naive), builtin types, rebuilt from args
    {"g": [name, [items]]} a builtin iterator, coroutine or dict view, used up by encode; a third element: there was more (MAX_ITEMS,
                           ITEMS_BYTES, ITEMS_SECONDS), and decode raises Unrecorded where one asks for it
    {"o": [type, repr, truth]}  any other object; truth is null when bool() raised

The value may belong to hostile code. Types are compared by identity and contents are read through the builtin's own methods, so an
overridden __eq__, __iter__ or __len__ is never asked; only a generator's body and an opaque object's __repr__ and __bool__ run.
"""

import builtins
import itertools
import re
import sys
import time
import types
from _json import encode_basestring_ascii as _quote
from collections import Counter, OrderedDict, defaultdict, deque
from json import JSONDecoder, dumps as _dumps, loads as _loads

MAX_DEPTH = 100
MAX_BYTES = 1 << 30
REPR_CHARS = 200
# An iterator may be endless: what is recorded of one ends where any of these is reached. Seconds are CPU time.
MAX_ITEMS = 10_000
ITEMS_BYTES = 1 << 20
ITEMS_SECONDS = 1.0
_SAFE = 1 << 53
_VIEWS = {type({}.keys()): "dict_keys", type({}.values()): "dict_values", type({}.items()): "dict_items"}
_ITERATORS = {types.GeneratorType, types.CoroutineType, map, filter, zip, enumerate, reversed, type(iter(int, 1))}
_ITERATORS |= {type(iter(x)) for x in ([], (), "", "é", {}, set(), b"", bytearray(), range(0), range(1 << 70), deque())}
_ITERATORS |= {type(iter(x)) for x in ({}.values(), {}.items())} | {type(reversed(x)) for x in ([], {}, {}.values(), {}.items(), deque())}
_ITERATORS |= {kind for kind in vars(itertools).values() if type(kind) is type and hasattr(kind, "__next__")}
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


class EncodeError(ValueError):
    """The value is nested deeper than MAX_DEPTH, or contains itself."""


class EncodeTooLarge(EncodeError):
    """The text would be longer than max_bytes."""


class Unrecorded(Exception):
    """Asked a decoded iterator for more items than were recorded."""


class DecodeError(ValueError):
    """The text was not written by encode."""


class Opaque:
    """What decode makes of an object that only its own program could have compared. Never equal to anything."""

    __slots__ = ("type", "text", "truth")
    __hash__ = None

    def __init__(self, type_name, text, truth):
        self.type, self.text, self.truth = type_name, text, truth

    def __eq__(self, other):
        return False

    def __repr__(self):
        return self.text


class _Encoder:
    def __init__(self, max_bytes):
        self.left = max_bytes

    def spend(self, text):
        self.left -= len(text)
        if self.left < 0:
            raise EncodeTooLarge("value is too large to report")
        return text

    def integer(self, value):
        if -_SAFE <= value <= _SAFE:
            return self.spend(int.__repr__(value))
        if value.bit_length() // 4 > self.left:
            raise EncodeTooLarge("integer is too large to report")
        return self.spend('{"i":"%s"}' % hex(value))

    def string(self, value):
        if len(value) > self.left:
            raise EncodeTooLarge("string is too large to report")
        if not value.isascii() and _PAIR.search(value):
            return self.spend('{"w":"%s"}' % value.encode("utf-32-be", "surrogatepass").hex())
        return self.spend(_quote(value))

    def sequence(self, items, depth):
        # Long lists of one plain type are the common large output: stay in C for them.
        if len(items) > 8:
            if len(items) > self.left:
                raise EncodeTooLarge("sequence is too large to report")
            kinds = set(map(type, items))
            if kinds == {int} and -_SAFE <= min(items) and max(items) <= _SAFE:
                return self.spend("[" + ",".join(map(int.__repr__, items)) + "]")
            if kinds == {float}:
                return self.spend('[{"f":"' + '"},{"f":"'.join(map(float.__repr__, items)) + '"}]')
            if kinds == {str} and sum(map(len, items)) <= self.left and all(map(str.isascii, items)):
                return self.spend("[" + ",".join(map(_quote, items)) + "]")
        self.spend("[]")
        return "[" + ",".join([self.value(item, depth) for item in items]) + "]"

    def pairs(self, items, depth):
        self.spend("[]")
        return "[" + ",".join(["[%s,%s]" % (self.value(k, depth), self.value(v, depth)) for k, v in items]) + "]"

    def unordered(self, items, depth):
        return "[" + ",".join(sorted([self.value(item, depth) for item in items])) + "]"

    def value(self, value, depth):
        kind = type(value)
        if kind is str:
            return self.string(value)
        if kind is int:
            return self.integer(value)
        if value is None:
            return self.spend("null")
        if value is True:
            return self.spend("true")
        if value is False:
            return self.spend("false")
        if kind is float:
            return self.spend('{"f":"%s"}' % float.__repr__(value))
        if depth > MAX_DEPTH:
            raise EncodeError("value is nested deeper than %d levels" % MAX_DEPTH)
        depth += 1
        if kind is list:
            return self.sequence(value, depth)
        self.spend('{"t":}')
        if kind is tuple:
            return '{"t":%s}' % self.sequence(value, depth)
        if kind is dict:
            return '{"d":%s}' % self.pairs(list(value.items()), depth)
        if kind is set:
            return '{"s":%s}' % self.unordered(value, depth)
        if kind is frozenset:
            return '{"z":%s}' % self.unordered(value, depth)
        if kind is complex:
            return '{"c":["%s","%s"]}' % (self.spend(repr(value.real)), self.spend(repr(value.imag)))
        if kind is bytes or kind is bytearray:
            if 2 * len(value) > self.left:
                raise EncodeTooLarge("bytes are too large to report")
            return '{"%s":"%s"}' % ("b" if kind is bytes else "y", self.spend(value.hex()))
        if kind is range:
            return '{"r":%s}' % self.sequence([value.start, value.stop, value.step], depth)
        if value is Ellipsis:
            return '{"e":0}'
        if type(kind) is type and (kind in _VIEWS or kind in _ITERATORS):
            return self.iterator(value, kind, depth)
        parts = _parts(value, kind)
        if parts is not None:
            return '{"k":[%s,%s]}' % (self.string(_type_name(kind)), self.value(parts, depth))
        if "numpy" in sys.modules:
            text = self.numpy(value, depth)
            if text is not None:
                return text
        base = _base_value(value, kind)
        if base is not None:
            return '{"u":[%s,%s]}' % (self.string(_type_name(kind)), self.value(base[0], depth))
        return self.opaque(value, kind)

    def iterator(self, value, kind, depth):
        if kind is types.CoroutineType:
            import asyncio

            return '{"g":["coroutine",[%s]]}' % self.value(asyncio.run(value), depth)
        view = _VIEWS.get(kind)
        name = view or (kind.__name__ if kind.__name__ in _REBUILT else "iterator")
        texts, left, started, rest = [], self.left, time.process_time(), ""
        # Encoded one by one: the groups of itertools.groupby are empty once the next is asked for.
        for item in value:
            late = time.process_time() - started > ITEMS_SECONDS
            if view is None and (late or len(texts) >= MAX_ITEMS or left - self.left > ITEMS_BYTES):
                rest = ",1"
                break
            texts.append(self.value(item, depth))
            self.spend(",")
        return '{"g":[%s,[%s]%s]}' % (self.string(name), ",".join(texts), rest)

    def numpy(self, value, depth):
        np = sys.modules["numpy"]
        try:
            generic, ndarray = np.generic, np.ndarray
            if not isinstance(generic, type) or not isinstance(ndarray, type):
                return None
            kind = type(value)
            if issubclass(kind, generic) and kind.__module__ == "numpy" and value.dtype.kind in "biufcUS":
                item = generic.item(value)
                if type(item) in (bool, int, float, complex, str, bytes):
                    return '{"n":[%s,%s]}' % (self.string(str(value.dtype.str)), self.value(item, depth))
            elif issubclass(kind, ndarray):
                plain = np.array(value, copy=True, subok=False)
                if plain.dtype.kind in "biufcUSO" and plain.dtype.char != "g" and plain.dtype.char != "G":
                    if plain.size > self.left:
                        raise EncodeTooLarge("array is too large to report")
                    shape = self.sequence([int(n) for n in plain.shape], depth)
                    items = self.sequence(plain.ravel().tolist(), depth)
                    return '{"a":[%s,%s,%s]}' % (self.string(str(plain.dtype.str)), shape, items)
        except EncodeError:
            raise
        except Exception:
            return None
        return None

    def opaque(self, value, kind):
        try:
            text = _ADDRESS.sub("", str.__str__(repr(value))[: 2 * REPR_CHARS])[:REPR_CHARS]
        except Exception as error:
            text = "<%s: repr raised %s>" % (_type_name(kind), _type_name(type(error)))
        try:
            truth = "true" if value else "false"
        except Exception:
            truth = "null"
        return '{"o":[%s,%s,%s]}' % (self.string(_type_name(kind)), self.string(text), truth)


def _type_name(kind):
    try:
        module, name = type.__getattribute__(kind, "__module__"), type.__getattribute__(kind, "__qualname__")
        if type(module) is str and type(name) is str:
            return (name if module in ("builtins", "__main__", "__program__") else module + "." + name)[:REPR_CHARS]
    except Exception:
        pass
    return "?"


def _parts(value, kind):
    """Constructor arguments of a value of the few standard library classes that encode knows; None for anything else."""
    if kind is deque:
        return [list(value), value.maxlen]
    if kind is type:
        name = type.__dict__["__name__"].__get__(value)
        return [name] if value is type(None) or getattr(builtins, name, None) is value else None
    module = sys.modules.get("decimal")
    if module is not None and kind is getattr(module, "Decimal", None):
        return [str(value)]
    module = sys.modules.get("fractions")
    if module is not None and kind is getattr(module, "Fraction", None):
        return [value.numerator, value.denominator]
    module = sys.modules.get("datetime")
    if module is None:
        return None
    if kind is module.date:
        return [value.year, value.month, value.day]
    if kind is module.timedelta:
        return [value.days, value.seconds, value.microseconds]
    if kind is module.datetime and value.tzinfo is None:
        return [value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond]
    if kind is module.time and value.tzinfo is None:
        return [value.hour, value.minute, value.second, value.microsecond]
    return None


def _rebuild(name, args):
    import datetime
    import decimal
    import fractions

    known = {"decimal.Decimal": decimal.Decimal, "fractions.Fraction": fractions.Fraction}
    known.update(("datetime." + n, getattr(datetime, n)) for n in ("date", "time", "datetime", "timedelta"))
    known.update({"collections.deque": deque, "type": _builtin_type})
    if name not in known or len(args) > 7:
        raise DecodeError("unknown class %r" % str(name)[:60])
    try:
        return known[name](*args)
    except ArithmeticError as error:
        raise DecodeError("not a %s: %s" % (name, error))


def _builtin_type(name):
    kind = type(None) if name == "NoneType" else getattr(builtins, name, None)
    if type(kind) is not type:
        raise DecodeError("unknown type %r" % str(name)[:60])
    return kind


def _generator(items):
    yield from items


async def _coroutine(items):
    (value,) = items
    return value


# Kinds of iterators that a test can tell from any other, and how one is made of recorded items.
_REBUILT = {
    "generator": _generator,
    "coroutine": _coroutine,
    "map": lambda items: map(lambda item: item, items),
    "filter": lambda items: filter(lambda item: True, items),
    "dict_keys": lambda items: dict.fromkeys(items).keys(),
    "dict_values": lambda items: dict(enumerate(items)).values(),
    "dict_items": lambda items: dict(items).items(),
}


def _unrecorded():
    raise Unrecorded("the program's iterator was recorded up to here only")
    yield


def _iterator(name, items, rest=0):
    return _REBUILT.get(name, iter)(itertools.chain(items, _unrecorded()) if rest else items)


def _base_value(value, kind):
    """The builtin value inside an instance of a subclass, as a 1-tuple, read without the subclass's own methods."""
    if issubclass(kind, int):
        return (int.__int__(value),)
    if issubclass(kind, str):
        return (str.__str__(value),)
    if issubclass(kind, float):
        return (float.__float__(value),)
    if issubclass(kind, list):
        return (list.__getitem__(value, slice(None)),)
    if issubclass(kind, tuple):
        return (tuple(tuple.__iter__(value)),)
    if kind is OrderedDict:
        return (dict(OrderedDict.items(value)),)
    if issubclass(kind, dict):
        return (dict(list(dict.items(value))),)
    if issubclass(kind, set):
        return (set(set.__iter__(value)),)
    if issubclass(kind, frozenset):
        return (frozenset(frozenset.__iter__(value)),)
    if issubclass(kind, complex):
        return (complex(complex.real.__get__(value), complex.imag.__get__(value)),)
    if issubclass(kind, bytes):
        return (bytes.__getitem__(value, slice(None)),)
    if issubclass(kind, bytearray):
        return (bytearray(bytearray.__iter__(value)),)
    return None


def encode(value, max_bytes=MAX_BYTES):
    return _Encoder(max_bytes).value(value, 0)


def _subclass(type_name, base):
    """Standard containers come back as themselves; of any other subclass the builtin value is what counts."""
    if type_name == "collections.OrderedDict" and type(base) is dict:
        return OrderedDict(base)
    if type_name == "collections.Counter" and type(base) is dict:
        return Counter(base)
    if type_name == "collections.defaultdict" and type(base) is dict:
        return defaultdict(None, base)
    return base


class _Decoder:
    def __init__(self, opaque, subclass):
        self.make_opaque, self.make_subclass = opaque, subclass

    def value(self, node, depth=0):
        if depth > 2 * MAX_DEPTH + 4:
            raise DecodeError("text is nested too deeply")
        kind = type(node)
        if kind is list:
            return [self.value(item, depth + 1) for item in node]
        if kind is dict:
            if len(node) != 1:
                raise DecodeError("a tagged value has exactly one key")
            ((tag, content),) = node.items()
            return self.tagged(tag, content, depth + 1)
        if kind is float:
            raise DecodeError("floats are tagged")
        return node

    def items(self, content, depth):
        if type(content) is not list:
            raise DecodeError("expected an array")
        return [self.value(item, depth) for item in content]

    def tagged(self, tag, content, depth):
        if tag == "f":
            return float(content)
        if tag == "t":
            return tuple(self.items(content, depth))
        if tag == "d":
            return {self.value(k, depth): self.value(v, depth) for k, v in content}
        if tag == "s":
            return set(self.items(content, depth))
        if tag == "z":
            return frozenset(self.items(content, depth))
        if tag == "i":
            return int(content, 16)
        if tag == "c":
            real, imag = content
            return complex(float(real), float(imag))
        if tag == "b":
            return bytes.fromhex(content)
        if tag == "y":
            return bytearray.fromhex(content)
        if tag == "r":
            return range(*self.items(content, depth))
        if tag == "w":
            return bytes.fromhex(content).decode("utf-32-be", "surrogatepass")
        if tag == "e":
            return Ellipsis
        if tag == "u":
            name, base = content
            return self.make_subclass(str(name), self.value(base, depth))
        if tag == "o":
            name, text, truth = content
            return self.make_opaque(str(name), str(text), truth)
        if tag == "k":
            name, args = content
            return _rebuild(name, self.items(args, depth))
        if tag == "g":
            name, items, *rest = content
            return _iterator(name, self.items(items, depth), *rest)
        if tag == "n":
            dtype, item = content
            return _numpy().dtype(dtype).type(self.value(item, depth))
        if tag == "a":
            dtype, shape, items = content
            return _numpy().array(self.items(items, depth), dtype=dtype).reshape(self.items(shape, depth))
        raise DecodeError("unknown tag %r" % tag[:20])


def _numpy():
    try:
        import numpy
    except ImportError:
        raise DecodeError("a numpy value cannot be read without numpy")
    return numpy


def _parse(text):
    try:
        return _loads(text)
    except (ValueError, RecursionError) as error:
        raise DecodeError("not an encoded value: %s" % error)


def decode(text, opaque=Opaque, subclass=_subclass):
    node = _parse(text)
    try:
        return _Decoder(opaque, subclass).value(node)
    except DecodeError:
        raise
    except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise DecodeError("not an encoded value: %s" % error)


_UNNAMED = ',{"d":[]}]'
_SIMPLE = {"f": float, "t": tuple, "d": dict, "s": set, "z": frozenset, "i": lambda text: int(text, 16)}


def _simple(node):
    ((tag, content),) = node.items()
    return _SIMPLE[tag](content)


_simple_decode = JSONDecoder(object_hook=_simple).decode


def decode_call(text):
    """Programs are called a hundred thousand times an hour, with plain JSON as a rule: what the C decoder can do is left to it."""
    try:
        if text.endswith(_UNNAMED) and text.find("{", 0, -len(_UNNAMED)) < 0:
            return _loads(text[: -len(_UNNAMED)] + "]")[0], {}
        return _simple_decode(text)
    except KeyError:
        return decode(text)


def _sorted_node(node):
    if type(node) is list:
        return [_sorted_node(item) for item in node]
    if type(node) is dict:
        ((tag, content),) = node.items()
        content = _sorted_node(content)
        return {tag: sorted(content, key=_compact) if tag in ("d", "s", "z") else content}
    return node


def _compact(node):
    return _dumps(node, separators=(",", ":"))


def canonical(text):
    node = _parse(text)
    try:
        return _compact(_sorted_node(node))
    except (TypeError, ValueError, RecursionError) as error:
        raise DecodeError("not an encoded value: %s" % error)
