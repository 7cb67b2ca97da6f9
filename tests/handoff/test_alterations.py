"""Whatever is altered in what was signed is found, and the part that was altered is named."""

from __future__ import annotations

import copy
import json
import random
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections import Counter
from pathlib import Path

import pytest
from tests.handoff.makers import SIGNERS, alterations_of, full_handoff

from argentum import HandoffProtocol, VerificationError
from argentum.handoff import Handoff, Receipt, Signed, check_artifacts, hash_artifact
from argentum.handoff.canonical import canonical, digest

FEW = 3_000
MANY = 120_000
AMOUNTS = [FEW, pytest.param(MANY, marks=pytest.mark.soak)]
PARTS = {
    # A bit of the payload that ends its text leaves no JSON.
    "payload": {"digest", "envelope"},
    "protected": {"header", "alg", "typ", "kid", "digest", "signature", "envelope"},
    "signature": {"signature", "envelope"},
    "names": {"envelope", "signature"},
}


def place_of(text: str, at: int) -> str:
    """Tell which member's value a byte belongs to; `names` for what is around them."""
    data = text.encode()
    for name in ("payload", "protected", "signature"):
        value = json.dumps(json.loads(text)[name], ensure_ascii=False).encode()
        start = data.index(f'"{name}":'.encode()) + len(name) + 4
        if start <= at < start + len(value) - 2:
            return name
    return "names"


def part_found(read, altered: object) -> str:
    """Name the part that does not hold; fail if all seems well."""
    with pytest.raises(VerificationError) as caught:
        read(altered)
    return caught.value.part


def first_difference(one: bytes, other: bytes) -> int:
    """Tell where two texts part."""
    return next(at for at, (a, b) in enumerate(zip(one, other, strict=True)) if a != b)


@pytest.mark.parametrize("how", SIGNERS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_single_bits_of_handoffs(how: str, amount: int):
    """Every flipped bit of a signed handoff is found, and its part named."""
    signer, verifier = SIGNERS[how]
    text = full_handoff(HandoffProtocol(sign_with=signer)).signed.to_json()
    reader, chance = HandoffProtocol(verify_with=[verifier]), random.Random(amount)
    for _ in range(amount // 4):
        altered = alterations_of(chance, text.encode())
        place = place_of(text, first_difference(text.encode(), altered))
        assert part_found(reader.from_json, altered) in PARTS[place], altered


@pytest.mark.parametrize("how", SIGNERS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_single_bits_of_the_detached_form(how: str, amount: int):
    """Every flipped bit of the payload, of the header and of the signature is named as such."""
    signer, verifier = SIGNERS[how]
    handoff = full_handoff(HandoffProtocol(sign_with=signer))
    payload, jws = handoff.canonical(), handoff.signed.jws
    reader, chance = HandoffProtocol(verify_with=[verifier]), random.Random(amount)
    for _ in range(amount // 8):
        altered = Signed.detached(alterations_of(chance, payload), jws)
        assert "digest" == part_found(reader.from_json, altered)
        flipped = alterations_of(chance, jws.encode()).decode("latin-1")
        in_header = first_difference(jws.encode(), flipped.encode("latin-1")) < jws.index(".")

        def read(text: str) -> object:
            return reader.from_json(Signed.detached(payload, text))

        parts = PARTS["protected"] if in_header else PARTS["signature"]
        assert part_found(read, flipped) in parts


@pytest.mark.parametrize("how", SIGNERS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_fields_of_handoffs(how: str, amount: int):
    """Every field that is altered, taken out or put in is found, digest amended or not."""
    signer, verifier = SIGNERS[how]
    signed = full_handoff(HandoffProtocol(sign_with=signer)).signed
    reader, chance = HandoffProtocol(verify_with=[verifier]), random.Random(amount)
    touched: Counter[str] = Counter()
    for _ in range(amount // 8):
        field, document = altered_field(chance, json.loads(signed.payload))
        payload = canonical(document)
        assert payload != signed.payload
        assert "digest" == part_found(
            reader.from_json, Signed(payload, signed.protected, signed.signature)
        )
        amended = Signed(payload, amended_header(signed, payload), signed.signature)
        assert "signature" == part_found(reader.from_json, amended)
        touched[field] += 1

    assert json.loads(signed.payload).keys() <= touched.keys()


def altered_field(chance: random.Random, document: dict) -> tuple[str, dict]:
    """Alter one field of a document, at any depth; tell the outermost one."""
    field = chance.choice([*document, "a new field"])
    if field not in document:
        return field, document | {field: chance.random()}
    if chance.random() < 0.2:
        return field, {key: value for key, value in document.items() if key != field}
    return field, document | {field: altered_value(chance, document[field])}


def altered_value(chance: random.Random, value: object) -> object:
    """Make another value of one."""
    if isinstance(value, dict) and value:
        return altered_field(chance, value)[1]
    if isinstance(value, list) and value:
        changed = copy.deepcopy(value)
        at = chance.randrange(len(value))
        if chance.random() < 0.3:
            return changed[:at] + changed[at + 1 :]
        changed[at] = altered_value(chance, changed[at])
        return changed
    if isinstance(value, bool) or value is None:
        return "altered" if value is None else not value
    if isinstance(value, (int, float)):
        return value + chance.choice([-1, 1, 0.5])
    if isinstance(value, str) and value and chance.random() < 0.8:
        at = chance.randrange(len(value))
        return value[:at] + chance.choice(["", "0" if value[at] != "0" else "1"]) + value[at + 1 :]
    return [value]


def amended_header(signed: Signed, payload: bytes) -> str:
    """Write the header as an attacker would, with the digest of another payload."""
    header = json.loads(urlsafe_b64decode(signed.protected + "=="))
    header["digest"] = digest(payload)
    return urlsafe_b64encode(canonical(header)).rstrip(b"=").decode()


def chain_of(protocol: HandoffProtocol, handoff: Handoff) -> list[Receipt]:
    """Make a full chain of receipts."""
    chain: list[Receipt] = []
    for status in ("received", "accepted", "completed"):
        done = {"no_output": True} if status == "completed" else {}
        after = chain[-1] if chain else None
        chain.append(protocol.generate_receipt(handoff, status, after=after, **done))
    return chain


@pytest.mark.parametrize("how", SIGNERS)
@pytest.mark.parametrize("amount", AMOUNTS)
def test_single_bits_of_receipts(how: str, amount: int):
    """Every flipped bit of a chain of receipts is found, and the receipt and its part named."""
    signer, verifier = SIGNERS[how]
    protocol = HandoffProtocol(sign_with=signer)
    handoff = full_handoff(protocol)
    texts = [protocol.receipt_to_json(one) for one in chain_of(protocol, handoff)]
    reader, chance = HandoffProtocol(verify_with=[verifier]), random.Random(amount)
    for _ in range(amount // 12):
        at = chance.randrange(len(texts))
        altered = alterations_of(chance, texts[at].encode())
        tried = [*texts[:at], altered, *texts[at + 1 :]]
        place = place_of(texts[at], first_difference(texts[at].encode(), altered))
        part = part_found(lambda tried: reader.verify_receipts(handoff, tried), tried)
        named, _, what = part.partition(".")
        assert f"receipts[{at}]" == named
        assert what in PARTS[place]


def test_order_of_receipts():
    """Receipts that are swapped, dropped, doubled or of another handoff are named."""
    protocol = HandoffProtocol(sign_with=SIGNERS["hmac"][0])
    handoff, other = full_handoff(protocol), full_handoff(protocol)
    first, second, third = chain_of(protocol, handoff)
    foreign = chain_of(protocol, other)[0]
    stolen = protocol.generate_receipt(handoff, "received", agent="mallory")
    rewritten = protocol.generate_receipt(handoff, "rejected", reason="no", after=first)

    def part(*chain: Receipt) -> str:
        return part_found(lambda tried: protocol.verify_receipts(handoff, tried), chain)

    assert [first, second, third] == protocol.verify_receipts(handoff, [first, second, third])
    assert [] == protocol.verify_receipts(handoff, [])
    assert "receipts[0].prev_receipt_digest" == part(second, first, third)
    assert "receipts[1].prev_receipt_digest" == part(first, third)
    assert "receipts[1].prev_receipt_digest" == part(first, first)
    assert "receipts[2].prev_receipt_digest" == part(first, rewritten, third)
    assert "receipts[0].handoff_id" == part(foreign)
    assert "receipts[0].agent" == part(stolen)


@pytest.mark.parametrize("amount", AMOUNTS)
def test_artifacts(amount: int, tmp_path: Path):
    """Every artifact that was altered, cut, grown, swapped or taken away is named."""
    chance = random.Random(amount)
    contents = {f"part{index}.bin": chance.randbytes(1 + 97 * index) for index in range(4)}
    refs = [hash_artifact(contents, name) for name in contents]
    handoff = HandoffProtocol().create_handoff("a", "b", "s", artifact_refs=refs)
    check_artifacts(handoff, contents)
    for _ in range(amount):
        at = chance.randrange(len(refs))
        name = refs[at].name
        altered, said = altered_artifact(chance, contents, name)
        with pytest.raises(
            VerificationError, match=re.escape(f"The artifact '{name}' {said}")
        ) as caught:
            check_artifacts(handoff, altered)
        assert f"artifact_refs[{at}]" == caught.value.part


def altered_artifact(
    chance: random.Random, contents: dict[str, bytes], name: str
) -> tuple[dict[str, bytes], str]:
    """Alter one artifact; tell what should be said of it."""
    data = contents[name]
    way = chance.randrange(5)
    if way == 0:
        return {key: value for key, value in contents.items() if key != name}, "is missing"
    if way == 1:
        return contents | {name: data + chance.randbytes(1 + chance.randrange(9))}, "grew from"
    if way == 2:
        return contents | {name: data[: chance.randrange(len(data))]}, "shrank from"
    if way == 3 and len(data) > 1 and data != data[::-1]:
        return contents | {name: data[::-1]}, "was changed"
    return contents | {name: alterations_of(chance, data)}, "was changed"
