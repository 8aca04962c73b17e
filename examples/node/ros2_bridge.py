#!/usr/bin/env python3
"""Connects a Covey node with ROS 2: odometry and CPMs of etsi_its_messages in, what the node knows out.

    ros2 run ... or: python3 ros2_bridge.py --ros-args -p socket:=/run/covey/vehicle.sock

Needs rclpy, nav_msgs, sensor_msgs, std_msgs and etsi_its_cpm_ts_msgs (github.com/ika-rwth-aachen/etsi_its_messages). The CPM's
objects are relative to its reference position, to the east and to the north, as the node wants them.
"""
import json
import math
import socket

import rclpy
from etsi_its_cpm_ts_msgs.msg import CollectivePerceptionMessage
from nav_msgs.msg import Odometry
from rclpy.node import Node
from sensor_msgs.msg import NavSatFix
from std_msgs.msg import String


class Bridge(Node):
    def __init__(self):
        super().__init__("covey_bridge")
        path = self.declare_parameter("socket", "/run/covey/vehicle.sock").value
        self.line = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.line.connect(path)
        self.answers = self.line.makefile("r")
        self.motion = (0.0, 0.0)
        self.create_subscription(Odometry, "odometry", self.on_odometry, 10)
        self.create_subscription(NavSatFix, "fix", self.on_fix, 10)
        self.create_subscription(CollectivePerceptionMessage, "perception/cpm", self.on_cpm, 10)
        self.known = self.create_publisher(String, "covey/known", 10)
        self.create_timer(0.2, self.ask)

    def tell(self, **line):
        self.line.sendall((json.dumps(line) + "\n").encode())

    def on_odometry(self, msg):
        q, v = msg.pose.pose.orientation, msg.twist.twist.linear
        yaw = math.atan2(2 * (q.w * q.z + q.x * q.y), 1 - 2 * (q.y * q.y + q.z * q.z))
        self.motion = ((90.0 - math.degrees(yaw)) % 360.0, v.x)  # ENU yaw to degrees clockwise from north

    def on_fix(self, msg):
        heading, speed = self.motion
        self.tell(type="state", latitude=msg.latitude, longitude=msg.longitude, heading_deg=heading, speed_m_s=speed)

    def on_cpm(self, msg):
        objects = []
        for wrapped in msg.payload.cpm_containers.value.array:
            if wrapped.container_id.value != 5:  # PerceivedObjectContainer
                continue
            for o in wrapped.container_data_perceived_object_container.perceived_objects.array:
                v = o.velocity.cartesian_velocity if o.velocity_is_present else None
                objects.append({
                    "id": o.object_id.value,
                    "east_m": o.position.x_coordinate.value.value / 100.0,
                    "north_m": o.position.y_coordinate.value.value / 100.0,
                    "velocity_m_s": [v.x_velocity.value.value / 100.0, v.y_velocity.value.value / 100.0] if v else [0.0, 0.0],
                    "age_ms": float(-o.measurement_delta_time.value),
                })
        self.tell(type="sensed", objects=objects)

    def ask(self):
        self.tell(type="ask")
        self.known.publish(String(data=self.answers.readline()))


if __name__ == "__main__":
    rclpy.init()
    rclpy.spin(Bridge())
