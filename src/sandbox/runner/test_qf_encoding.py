"""python3 -m unittest test_qf_encoding; run by qf-encoding.test.ts. Not part of the image."""

import asyncio
import collections
import datetime
import decimal
import fractions
import itertools
import random
import sys
import time
import unittest

from qf_encoding import DecodeError, EncodeError, EncodeTooLarge, Unrecorded, canonical, decode, decode_call, encode


def same(a, b):
    """Equal in value and in every nested type, without asking an overridden __eq__; NaN equals NaN, -0.0 is not 0.0."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, (float, complex)):
        return repr(a) == repr(b)
    return a == b


def random_value(rng, depth=0):
    kind = rng.randrange(14 if depth < 4 else 8)
    if kind == 0:
        return rng.choice([None, True, False, ...])
    if kind == 1:
        return rng.randint(-(10 ** rng.randrange(1, 40)), 10 ** rng.randrange(1, 40))
    if kind == 2:
        return rng.choice([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 1e16, rng.uniform(-1e9, 1e9), 5e-324])
    if kind == 3:
        return "".join(chr(rng.choice([rng.randrange(128), rng.randrange(0x110000), rng.randrange(0xD800, 0xE000)])) for _ in range(rng.randrange(6)))
    if kind == 4:
        return bytes(rng.randrange(256) for _ in range(rng.randrange(5)))
    if kind == 5:
        return complex(rng.choice([-0.0, 1.5, float("nan")]), rng.choice([-0.0, 2.0, float("inf")]))
    if kind == 6:
        return rng.randint(2**53 - 2, 2**53 + 2) * rng.choice([1, -1])
    if kind == 7:
        return range(rng.randrange(9), rng.randrange(9), rng.choice([1, -1, 2]))
    items = [random_value(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3, 12]))]
    if kind in (8, 9):
        return items
    if kind == 10:
        return tuple(items)
    if kind == 11:
        return {random_key(rng): item for item in items}
    return (set if kind == 12 else frozenset)(random_key(rng) for _ in items)


def random_key(rng):
    return rng.choice([rng.randint(-5, 5), str(rng.randrange(9)), (rng.randrange(3), "x"), None, 0.5, b"k"])


class RoundTrip(unittest.TestCase):
    def test_random_values(self):
        rng = random.Random(7)
        for _ in range(3000):
            value = random_value(rng)
            text = encode(value)
            self.assertTrue(text.isascii())
            self.assertTrue(same(decode(text), value), text[:300])
            self.assertEqual(encode(decode(text)), text)

    def test_calls_are_decoded_as_any_value(self):
        rng = random.Random(8)
        for _ in range(500):
            call = [[random_value(rng) for _ in range(rng.randrange(3))], {"b": random_value(rng)} if rng.random() < 0.3 else {}]
            text = encode(call)
            self.assertTrue(same(list(decode_call(text)), decode(text)), text[:300])

    def test_integers_have_no_digit_limit(self):
        value = 7 ** 20000
        self.assertEqual(decode(encode(value)), value)
        self.assertEqual(encode(2**53), "9007199254740992")
        self.assertEqual(encode(2**53 + 1), '{"i":"0x20000000000001"}')

    def test_types_that_compare_equal_stay_apart(self):
        texts = {encode(v) for v in (1, 1.0, True, "1", [1], (1,), {1}, frozenset({1}), {1: 1}, 1 + 0j, b"1")}
        self.assertEqual(len(texts), 11)

    def test_standard_classes(self):
        values = [decimal.Decimal("1.50"), decimal.Decimal("NaN"), fractions.Fraction(-1, 3), datetime.date(2020, 2, 29), datetime.time(1, 2, 3, 4)]
        values += [datetime.datetime(2020, 1, 2, 3), datetime.timedelta(-1, 5)]
        values += [collections.OrderedDict(b=1, a=2), collections.Counter("aab"), collections.deque([1, 2], 5), collections.deque()]
        for value in values:
            self.assertEqual(repr(decode(encode(value))), repr(value))

    def test_iterators_come_back_as_iterators(self):
        self.assertEqual(list(decode(encode(x * x for x in range(3)))), [0, 1, 4])
        self.assertEqual(list(decode(encode(map(str, [1, 2])))), ["1", "2"])
        self.assertEqual(decode(encode({1: 2}.items())), {1: 2}.items())

        self.assertEqual([(k, list(g)) for k, g in decode(encode(itertools.groupby("aab")))], [("a", ["a", "a"]), ("b", ["b"])])
        for iterator in (iter({1: 2}.values()), reversed({1: 2}), iter(range(1 << 70, (1 << 70) + 2)), itertools.pairwise("abc"), iter([3].pop, 3)):
            self.assertTrue(encode(iterator).startswith('{"g":["iterator",['), iterator)
        for iterator in ((x for x in [1]), map(abs, [-1]), filter(None, [1])):
            back = decode(encode(iterator))
            self.assertIs(type(back), type(iterator))
            self.assertEqual(list(back), [1])

    def test_what_is_recorded_of_an_endless_iterator_ends(self):
        def slow():
            while True:
                deadline = time.process_time() + 0.4
                while time.process_time() < deadline:
                    pass
                yield 1

        for endless, least in ((itertools.count(), 10_000), (itertools.cycle(["x" * 5000]), 200), (slow(), 2)):
            back = decode(encode(endless))
            self.assertEqual(len(list(itertools.islice(back, least))), least)
            with self.assertRaises(Unrecorded):
                list(back)

    def test_a_coroutine_comes_back_with_its_result(self):
        async def double(x):
            await asyncio.sleep(0)
            return [2 * x]

        self.assertEqual(asyncio.run(decode(encode(double(4)))), [8])

        async def fails():
            raise KeyError("x")

        with self.assertRaises(KeyError):
            encode(fails())

    def test_builtin_types_are_themselves_and_others_are_not(self):
        for kind in (int, dict, type(None), ValueError, type, range):
            self.assertIs(decode(encode(kind)), kind)
        self.assertTrue(encode(type("int", (int,), {})).startswith('{"o":["type"'))
        self.assertTrue(encode(collections.Counter).startswith('{"o":["type"'))

    def test_a_set_has_one_encoding_and_a_dict_keeps_its_order(self):
        self.assertEqual(encode({3, 1, 2}), encode({2, 3, 1}))
        one, other = encode({"a": 1, "b": {2, 1}}), encode({"b": {1, 2}, "a": 1})
        self.assertNotEqual(one, other)
        self.assertEqual(canonical(one), canonical(other))

    def test_numpy(self):
        try:
            import numpy as np
        except ImportError:
            self.skipTest("numpy is not installed")
        for value in (np.float64(1.5), np.int32(-3), np.bool_(True), np.array([[1, 2], [3, 4]]), np.array([1.5, float("nan")])):
            back = decode(encode(value))
            self.assertIs(type(back), type(value))
            self.assertEqual(repr(back), repr(value))


class Hostile(unittest.TestCase):
    def test_subclasses_give_their_builtin_value(self):
        def lies(base):
            def asked(*_):
                raise AssertionError("an overridden method was called")

            names = "eq ne lt len iter getitem str repr hash bool int index float contains reversed".split()
            return type("Lies", (base,), {"__%s__" % n: asked for n in names} | {"items": asked, "keys": asked, "real": 9, "copy": asked})

        for base, value in ((int, 5), (str, "x"), (float, 1.5), (list, [1]), (tuple, (1,)), (set, {1}), (dict, {1: 2}), (bytes, b"x"), (complex, 1j)):
            text = encode(lies(base)(value))
            self.assertTrue(text.startswith('{"u":['))
            self.assertTrue(text.endswith(",%s]}" % encode(value)), text)
            self.assertEqual(decode(text), value)

    def test_an_object_equals_nothing(self):
        class Everything:
            def __eq__(self, other):
                return True

            def __repr__(self):
                return "5"

        value = decode(encode([Everything()]))[0]
        self.assertFalse(value == 5)
        self.assertFalse(value == value)
        self.assertEqual((value.text, value.truth), ("5", True))

    def test_objects_that_fail_when_looked_at(self):
        class Bad:
            def __repr__(self):
                raise RuntimeError

            def __bool__(self):
                raise RuntimeError

        self.assertTrue(encode(Bad()).endswith(",null]}"))

    def test_reprs_have_no_addresses(self):
        self.assertEqual(encode(object()), encode(object()))

    def test_cycles_and_depth(self):
        ring = []
        ring.append(ring)
        deep = []
        for _ in range(1000):
            deep = [deep]
        wide = [1]
        for _ in range(60):
            wide = [wide, wide]
        for value in (ring, deep, {1: ring}):
            with self.assertRaises(EncodeError):
                encode(value)
        with self.assertRaises(EncodeTooLarge):
            encode(wide, 1 << 20)

    def test_size_is_bounded_before_the_text_is_made(self):
        for value in ("x" * 2000, [1] * 2000, 1 << 20000, b"x" * 2000, ["abc"] * 2000, [0.5] * 2000, set(range(2000)), {n: n for n in range(2000)}):
            with self.assertRaises(EncodeTooLarge):
                encode(value, 1000)

    def test_decode_refuses_what_encode_does_not_write(self):
        bad = ["", "[", "1.5", "{}", '{"q":1}', '{"f":"x"}', '{"d":[[[],1]]}', '{"d":5}', '{"i":5}', '{"s":[[]]}', '{"o":1}', '{"t":{"f":"1"}}']
        bad += ["[" * 100_000, "[" * 900 + "]" * 900, '{"k":["os.system",["x"]]}', '{"k":["decimal.Decimal",["x"]]}', '{"f":"1","t":[]}', '{"r":[1,2,0]}']
        bad += ['{"k":["type",["len"]]}', '{"k":["type",["nothing"]]}', '{"k":["type",[[]]]}', '{"g":["generator",5]}']
        for text in bad:
            with self.assertRaises(DecodeError, msg=text[:40]):
                decode(text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]])
