"""Prints what asn1tools reads in the CAMs of a capture, one line each: station, latitude, longitude, speed, heading, length, width,
and the length of the message when asn1tools writes it again, without the additions that it does not know.

    python cams_asn1tools.py CAPTURE FOLDER

FOLDER holds the source archive of asn1tools, whose tests bring the modules of ETSI (CAM 1.3.2, common data 1.2.1).
"""

import glob
import os
import re
import struct
import sys
import tarfile

import asn1tools

MODULES = ["etsi/cam_pdu_descriptions_1_3_2.asn", "etsi/its_container_1_2_1.asn"]
CAPTURE_HEADER, PACKET_HEADER, PORT_AT, MESSAGE_AT = 24, 16, 54, 58

(archive,) = glob.glob(os.path.join(sys.argv[2], "asn1tools-*.tar.gz"))
with tarfile.open(archive) as source:
    top = source.getnames()[0].split("/")[0]
    texts = [source.extractfile(f"{top}/tests/files/{name}").read().decode() for name in MODULES]
text = "\n".join(texts)
# The one range in these messages that common data 1.3.1 (CAM 1.4.1) changed.
text, changed = re.subn(r"(CurvatureValue ::= INTEGER \{[^}]*\}) *\(-30000 *\.\. *30001\)", r"\1 (-1023..1023)", text)
assert changed == 1, changed
modules = asn1tools.compile_string(text, "uper")

capture = open(sys.argv[1], "rb").read()
at = CAPTURE_HEADER
while at < len(capture):
    (length,) = struct.unpack_from("<I", capture, at + 8)
    frame = capture[at + PACKET_HEADER : at + PACKET_HEADER + length]
    at += PACKET_HEADER + length
    if struct.unpack_from(">H", frame, PORT_AT) != (2001,):
        continue
    cam = modules.decode("CAM", frame[MESSAGE_AT:])
    parameters = cam["cam"]["camParameters"]
    position = parameters["basicContainer"]["referencePosition"]
    kind, vehicle = parameters["highFrequencyContainer"]
    print(
        cam["header"]["stationID"],
        position["latitude"],
        position["longitude"],
        vehicle["speed"]["speedValue"],
        vehicle["heading"]["headingValue"],
        vehicle["vehicleLength"]["vehicleLengthValue"],
        vehicle["vehicleWidth"],
        len(modules.encode("CAM", cam)),
    )
