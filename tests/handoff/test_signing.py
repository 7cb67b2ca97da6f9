"""Signatures: what holds, and what is said when it does not."""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from tests.handoff.makers import ED25519, HMAC, PUBLIC, SIGNERS, full_handoff

from argentum import HandoffProtocol, InputError, MissingExtraError, VerificationError
from argentum.handoff import Ed25519Key, HmacKey, Signed, unverified_handoff, unverified_receipt
from argentum.handoff.canonical import canonical, digest
from argentum.handoff.signing import sign, verify

TYPE = "argentum-handoff+jws"
RFC_8032 = (  # section 7.1, test 3
    "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
    "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
    "af82",
    "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac"
    "18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a",
)


def base64(data: bytes) -> str:
    """Write base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def with_header(signed: Signed, key=None, **changes: object) -> Signed:
    """Change a header; sign it anew only if a key is given."""
    header = json.loads(urlsafe_b64decode(signed.protected + "==")) | changes
    header = {name: value for name, value in header.items() if value != "absent"}
    protected = base64(canonical(header))
    if key is None:
        return Signed(signed.payload, protected, signed.signature)
    return Signed(
        signed.payload, protected, base64(key.sign(f"{protected}.".encode() + signed.payload))
    )


def part_of(signed: Signed, keys=(HMAC, PUBLIC)) -> str:
    """Name the part that does not hold."""
    with pytest.raises(VerificationError) as caught:
        verify(signed, {key.kid: key for key in keys}, TYPE)
    return caught.value.part


def test_ed25519_of_the_standard():
    """A key signs as RFC 8032 says."""
    private, public, message, signature = map(bytes.fromhex, RFC_8032)

    assert signature == Ed25519Key("k", private=private).sign(message)
    assert public == Ed25519Key("k", private=private).public_bytes()
    assert Ed25519Key("k", public=public).holds(message, signature)


def test_hmac_of_the_standard():
    """A key signs as RFC 4231 says, test case 7 (its key is long enough)."""
    key = HmacKey("k", b"\xaa" * 131)
    message = (
        b"This is a test using a larger than block-size key and a larger than block-size data. "
        b"The key needs to be hashed before being used by the HMAC algorithm."
    )

    expected = "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
    assert expected == key.sign(message).hex()


@pytest.mark.parametrize("how", SIGNERS)
def test_both_forms(how: str):
    """The one text and the detached form carry the same signature."""
    signer, verifier = SIGNERS[how]
    handoff = full_handoff(HandoffProtocol(sign_with=signer))
    reader = HandoffProtocol(verify_with=[verifier])

    detached = Signed.detached(handoff.canonical(), handoff.signed.jws)

    assert handoff == reader.from_json(detached)
    assert handoff == reader.from_json(json.dumps(json.loads(handoff.signed.to_json()), indent=3))
    assert handoff.signed == reader.from_json(handoff.signed.to_json()).signed
    assert {"payload", "protected", "signature"} == json.loads(handoff.signed.to_json()).keys()


def test_header():
    """The header says how it was signed, as RFC 7797 asks."""
    signed = sign(b"{}", HMAC, TYPE)

    assert {
        "alg": "HS256",
        "b64": False,
        "crit": ["b64"],
        "digest": digest(b"{}"),
        "kid": "shared",
        "typ": TYPE,
    } == json.loads(urlsafe_b64decode(signed.protected + "=="))


@pytest.mark.parametrize(
    "change, part",
    [
        ({"alg": "none"}, "alg"),
        ({"alg": "ES256"}, "alg"),
        ({"alg": "EdDSA"}, "alg"),
        ({"alg": "absent"}, "header"),
        ({"b64": True}, "header"),
        ({"b64": 0}, "header"),
        ({"b64": "absent"}, "header"),
        ({"crit": ["b64", "exp"]}, "header"),
        ({"crit": "absent"}, "header"),
        ({"kid": "nobody"}, "kid"),
        ({"kid": "alice-1"}, "alg"),
        ({"kid": None}, "header"),
        ({"typ": "argentum-receipt+jws"}, "typ"),
        ({"digest": digest(b"other")}, "digest"),
        ({"digest": "absent"}, "header"),
    ],
)
def test_headers_that_do_not_hold(change: dict, part: str):
    """A header that asks for something else is refused by name, even if it is signed."""
    signed = sign(b"{}", HMAC, TYPE)

    assert part == part_of(with_header(signed, **change))
    assert part == part_of(with_header(signed, HMAC, **change))


def test_public_key_is_no_secret():
    """The public half of a pair, known to all, signs nothing as if it were a secret."""
    forger = HmacKey("alice-1", PUBLIC.public_bytes())

    assert "alg" == part_of(sign(b"{}", forger, TYPE))


def test_altered_digest_with_altered_payload():
    """Who alters payload and digest alike is found out by the signature."""
    signed = with_header(sign(b'{"a":1}', ED25519, TYPE), digest=digest(b'{"a":2}'))

    assert "signature" == part_of(Signed(b'{"a":2}', signed.protected, signed.signature))


@pytest.mark.parametrize("how", SIGNERS)
def test_one_way_to_write_a_signature(how: str):
    """Of the texts that decode to the same signature, only the one that was written holds."""
    signed = sign(b"{}", SIGNERS[how][0], TYPE)
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    held = []
    for last in alphabet:
        tried = Signed(signed.payload, signed.protected, signed.signature[:-1] + last)
        try:
            verify(tried, {HMAC.kid: HMAC, PUBLIC.kid: PUBLIC}, TYPE)
        except VerificationError as error:
            assert "signature" == error.part
        else:
            held.append(last)

    assert [signed.signature[-1]] == held
    for odd in (signed.signature + "=", signed.signature + "\n", "", "a" * 2000, "é"):
        assert "signature" == part_of(Signed(signed.payload, signed.protected, odd))


def test_signer_speaks_for_its_agents_only():
    """A key that is bound to agents signs nothing in another's name, and nothing of it passes."""
    bound = HmacKey("mallory", b"m" * 32, agents=["mallory"])
    free = HmacKey("mallory", b"m" * 32)
    forged = HandoffProtocol(sign_with=free).create_handoff("alice", "bob", "s")

    with pytest.raises(VerificationError, match="from_agent is 'alice', but the key 'mallory'"):
        HandoffProtocol(verify_with=[bound]).from_json(forged.signed.to_json())
    with pytest.raises(VerificationError) as caught:
        HandoffProtocol(sign_with=bound).create_handoff("alice", "bob", "s")
    assert "from_agent" == caught.value.part
    with pytest.raises(VerificationError) as caught:
        HandoffProtocol(sign_with=bound).generate_receipt(forged, "accepted")
    assert "agent" == caught.value.part


def test_with_keys_a_signature_is_needed():
    """Without keys nothing is verified, so a signed document is not taken; with keys it must be."""
    signed = full_handoff(HandoffProtocol(sign_with=HMAC)).signed.to_json()
    bare = HandoffProtocol().to_json(full_handoff(HandoffProtocol()))

    for protocol, text, part in [
        (HandoffProtocol(), signed, "kid"),
        (HandoffProtocol(verify_with=[PUBLIC]), signed, "kid"),
        (HandoffProtocol(verify_with=[HMAC]), bare, "signature"),
        (HandoffProtocol(verify_with=[HMAC], algorithms=["EdDSA"]), signed, "alg"),
    ]:
        with pytest.raises(VerificationError) as caught:
            protocol.from_json(text)
        assert part == caught.value.part


@pytest.mark.parametrize("how", SIGNERS)
def test_unverified(how: str):
    """What was kept can be shown without keys, and verified later as it was kept."""
    protocol = HandoffProtocol(sign_with=SIGNERS[how][0])
    handoff = full_handoff(protocol)
    receipt = protocol.generate_receipt(handoff, "accepted")
    texts = protocol.to_json(handoff), protocol.receipt_to_json(receipt)

    shown = unverified_handoff(texts[0]), unverified_receipt(texts[1])

    assert (handoff, receipt) == shown
    assert texts == (protocol.to_json(shown[0]), protocol.receipt_to_json(shown[1]))
    assert handoff == unverified_handoff(handoff.canonical())
    assert receipt == unverified_receipt(receipt.canonical())
    assert [receipt] == protocol.verify_receipts(shown[0], [shown[1]])


def test_changed_after_signing():
    """What was changed after it was signed is not sent under that signature."""
    protocol = HandoffProtocol(sign_with=HMAC)
    handoff = full_handoff(protocol)
    handoff.metadata["sample"] = 51

    with pytest.raises(InputError, match="was changed after it was signed; make a new one"):
        protocol.to_json(handoff)


def test_other_writers_may_sign():
    """A payload that another program wrote in its own form is verified as it was signed."""
    payload = b'{ "to_agent": "b", "from_agent": "a", "context_summary": "\\u00e9" }'
    reader = HandoffProtocol(verify_with=[PUBLIC])

    received = reader.from_json(sign(payload, ED25519, TYPE))

    assert ("é", payload) == (received.context_summary, received.canonical())
    assert payload == reader.from_json(reader.to_json(received)).canonical()


def test_keys_from_what_people_have():
    """Raw bytes, PEM and keys of the library are the same key."""
    made = Ed25519PrivateKey.generate()
    private_pem = made.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    public_pem = made.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    privates = [made, made.private_bytes_raw(), private_pem, private_pem.decode()]
    publics = [made.public_key(), made.public_key().public_bytes_raw(), public_pem]
    for private in privates:
        signature = Ed25519Key("k", private=private).sign(b"x")
        assert all(Ed25519Key("k", public=public).holds(b"x", signature) for public in publics)


@pytest.mark.parametrize(
    "make, said",
    [
        (lambda: HmacKey("k", b"short"), "The secret of key 'k' is a short or unsuitable bytes"),
        (lambda: HmacKey("k", "s" * 40), "The secret of key 'k' is a short or unsuitable str"),
        (lambda: HmacKey("", b"s" * 40), "kid is ''; text that is not empty"),
        (lambda: HmacKey("k", b"s" * 40, agents="bob"), "agents is 'bob'; a list such as ['bob']"),
        (lambda: Ed25519Key("k"), "The key 'k' needs either private= or public=."),
        (lambda: Ed25519Key("k", private=b"short"), "as private= for 'k' is no private Ed25519"),
        (lambda: Ed25519Key("k", public=ED25519), "as public= for 'k' is no public Ed25519 key"),
        (lambda: PUBLIC.sign(b""), "The key 'alice-1' is public and cannot sign; give private=."),
        (lambda: HandoffProtocol(verify_with=[ED25519, PUBLIC]), "Two keys are named 'alice-1'"),
        (lambda: HandoffProtocol(algorithms=["none"]), "algorithms[0] is 'none'; 'HS256' or"),
    ],
)
def test_keys_that_cannot_be_used(make, said: str):
    """A key that cannot be used is refused with what would do, and its secret is not shown."""
    with pytest.raises(InputError) as caught:
        make()

    assert said in str(caught.value)
    assert "short" not in repr(caught.value).replace("a short or", "")


def test_secrets_are_not_shown():
    """No key shows its secret."""
    assert "secret" not in repr(HMAC).replace("shared", "")
    assert "Ed25519Key('alice-1', private=…)" == repr(ED25519)


@pytest.mark.parametrize("jws", ["", "a.b.c", "a..b.c", "a"])
def test_detached_form_that_is_none(jws: str):
    """What is no detached signature is told so."""
    with pytest.raises(VerificationError, match=r"'header\.\.signature' would work"):
        Signed.detached(b"{}", jws)


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch):
    """Without its library, a key of Ed25519 says what to install."""
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)

    with pytest.raises(MissingExtraError, match=r"pip install 'argentum-agent\[sign\]'"):
        Ed25519Key("k", private=bytes(32))


def test_hmac_loads_no_library():
    """Who signs with a shared secret needs nothing else, and loads nothing else."""
    script = (
        "import sys, argentum; key = argentum.HmacKey('k', bytes(32));"
        "p = argentum.HandoffProtocol(sign_with=key);"
        "p.from_json(p.to_json(p.create_handoff('a', 'b', 's')));"
        "print('cryptography' in sys.modules)"
    )
    printed = subprocess.run(
        [sys.executable, "-c", script], check=False, capture_output=True, text=True
    )

    assert ("False\n", "") == (printed.stdout, printed.stderr)
