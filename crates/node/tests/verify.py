"""Verifies signed GeoNetworking frames of a capture with OpenSSL (through `cryptography`), from the bytes alone.

    verify.py CAPTURE.pcap

An envelope (IEEE 1609.2, COER) is taken apart here by hand, without any code of the project: signature input is
SHA-256(SHA-256(tbsData) || SHA-256(certificate)). Certificates are taken from frames that carry them; all frames count.
"""
import hashlib
import struct
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils


class Reader:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, count):
        if self.at + count > len(self.data):
            raise ValueError("cut")
        self.at += count
        return self.data[self.at - count:self.at]

    def byte(self):
        return self.take(1)[0]

    def length(self):
        first = self.byte()
        return first if first < 0x80 else int.from_bytes(self.take(first & 0x7F), "big")

    def opaque(self):
        return self.take(self.length())

    def expect(self, *wanted):
        found = tuple(self.take(len(wanted)))
        assert found == wanted, (found, wanted, self.at)


def psid_ssps(r):
    for _ in range(int.from_bytes(r.opaque(), "big")):
        presence = r.byte()
        r.opaque()  # psid
        if presence & 0x80:
            r.byte()  # bitmapSsp, an extension of the choice: an open type
            r.opaque()


def certificate(r):
    """Reads an authorisation ticket; gives its bytes and its key."""
    begin = r.at
    assert r.byte() == 0x80, "a signature is present"
    r.expect(3, 0)  # version, explicit
    assert r.byte() == 0x80  # issuer: sha256AndDigest
    r.take(8)
    presence = r.byte()
    # ToBeSignedCertificate: extension bit, then region, assurance, app, issue, request, rollover, encryption key.
    assert presence == 0x10, hex(presence)  # appPermissions alone
    assert r.byte() == 0x83  # id: none
    r.take(3 + 2)  # cracaId, crlSeries
    r.take(4)  # start
    r.byte()
    r.take(2)  # duration
    psid_ssps(r)
    assert r.byte() == 0x80  # verificationKey
    assert r.byte() == 0x80  # ecdsaNistP256
    kind = r.byte()
    x = r.take(32)
    point = bytes([{0x82: 2, 0x83: 3}[kind]]) + x
    signature(r)
    return r.data[begin:r.at], ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def signature(r):
    r.expect(0x80)  # ecdsaNistP256Signature
    r.expect(0x80)  # x-only
    big = int.from_bytes
    return utils.encode_dss_signature(big(r.take(32), "big"), big(r.take(32), "big"))


def header_info(r):
    presence = r.byte()
    r.opaque()  # psid
    if presence & 0x40:
        r.take(8)  # generationTime
    assert presence & 0x3F == 0, hex(presence)
    if presence & 0x80:
        bits = r.opaque()
        unused, flags = bits[0], int.from_bytes(bits[1:], "big") >> bits[0]
        for at in range(8 * len(bits[1:]) - unused):
            if flags >> at & 1:
                r.opaque()


def frames(path):
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + length]
        at += 16 + length


def envelopes(path):
    for frame in frames(path):
        assert frame[12:14] == b"\x89\x47" and frame[14] & 15 == 2
        r = Reader(frame, 18)
        r.expect(3, 0x81, 0)  # version, signedData, SHA-256
        begin = r.at
        r.expect(0x40, 3, 0x80)  # payload: data, version, unsecured
        r.opaque()
        header_info(r)
        signed = frame[begin:r.at]
        kind = r.byte()
        found = None
        if kind == 0x80:
            digest = r.take(8)
        else:
            assert kind == 0x81
            r.expect(1, 1)  # one certificate
            found = certificate(r)
            digest = hashlib.sha256(found[0]).digest()[-8:]
        yield digest, found, signed, signature(r), r.at == len(frame)


known, verified, wrong, unknown = {}, 0, 0, 0
for digest, found, signed, sig, whole in envelopes(sys.argv[1]):
    if found:
        known[digest] = found
    if digest not in known:
        unknown += 1
        continue
    der, key = known[digest]
    sha = lambda data: hashlib.sha256(data).digest()
    try:
        assert whole, "bytes after the envelope"
        key.verify(sig, sha(sha(signed) + sha(der)), ec.ECDSA(utils.Prehashed(hashes.SHA256())))
        verified += 1
    except InvalidSignature:
        wrong += 1
print(f"{verified} verified, {wrong} wrong, {unknown} unknown")
sys.exit(0 if wrong + unknown == 0 else 1)
