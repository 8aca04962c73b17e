"""Prints what pycrate reads in the CAMs of a capture, one line each: station, latitude, longitude, speed, heading, and the
additions that it does not know, as hexadecimal bytes.

    python cams.py CAPTURE
"""

import struct
import sys

from pycrate_asn1dir import ITS_CAM_2

CAM = ITS_CAM_2.CAM_PDU_Descriptions.CAM
CAPTURE_HEADER, PACKET_HEADER, PORT_AT, MESSAGE_AT = 24, 16, 54, 58

capture = open(sys.argv[1], "rb").read()
at = CAPTURE_HEADER
while at < len(capture):
    (length,) = struct.unpack_from("<I", capture, at + 8)
    frame = capture[at + PACKET_HEADER : at + PACKET_HEADER + length]
    at += PACKET_HEADER + length
    if struct.unpack_from(">H", frame, PORT_AT) != (2001,):
        continue
    CAM.from_uper(frame[MESSAGE_AT:])
    cam = CAM.get_val()
    parameters = cam["cam"]["camParameters"]
    position = parameters["basicContainer"]["referencePosition"]
    kind, vehicle = parameters["highFrequencyContainer"]
    unknown = {name: value.hex() for name, value in parameters.items() if name.startswith("_ext_")}
    print(
        cam["header"]["stationID"],
        position["latitude"],
        position["longitude"],
        vehicle["speed"]["speedValue"],
        vehicle["heading"]["headingValue"],
        *(f"{name}={value}" for name, value in unknown.items()),
    )
