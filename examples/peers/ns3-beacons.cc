// What beacons alone cost in ns-3, to stand beside Covey (docs/performance.md): so many stations on a line of 3.7 km, each broadcasting 121 B
// ten times a second over IEEE 802.11p, heard up to 500 m.
//
// Debian 12: apt-get install libns3-dev g++, then
//   g++ -O2 -std=c++17 ns3-beacons.cc -o ns3-beacons -lns3-wave -lns3-wifi -lns3-internet -lns3-mobility -lns3-network -lns3-core \
//       -lns3-propagation -lns3-stats -lns3-spectrum -lns3-antenna -lns3-energy -lns3-bridge -lns3-traffic-control
//   time ./ns3-beacons STATIONS SECONDS
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/wave-module.h"
#include "ns3/wifi-module.h"
#include <iostream>
using namespace ns3;
static uint64_t received = 0;
static void Hear(Ptr<Socket> socket) { while (socket->Recv()) received++; }
static void Send(Ptr<Socket> socket) {
  socket->Send(Create<Packet>(121 - 28));
  Simulator::Schedule(MilliSeconds(100), &Send, socket);
}
int main(int argc, char** argv) {
  uint32_t n = std::stoul(argv[1]); double seconds = std::stod(argv[2]);
  NodeContainer nodes; nodes.Create(n);
  YansWifiPhyHelper phy; phy.SetErrorRateModel("ns3::NistErrorRateModel");
  YansWifiChannelHelper channel;
  channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
  channel.AddPropagationLoss("ns3::LogDistancePropagationLossModel", "Exponent", DoubleValue(2.2), "ReferenceLoss", DoubleValue(47.9));
  channel.AddPropagationLoss("ns3::RangePropagationLossModel", "MaxRange", DoubleValue(500));
  phy.SetChannel(channel.Create());
  NqosWaveMacHelper mac = NqosWaveMacHelper::Default();
  Wifi80211pHelper wifi = Wifi80211pHelper::Default();
  wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager", "DataMode", StringValue("OfdmRate6MbpsBW10MHz"), "ControlMode", StringValue("OfdmRate6MbpsBW10MHz"));
  NetDeviceContainer devices = wifi.Install(phy, mac, nodes);
  Ptr<ListPositionAllocator> places = CreateObject<ListPositionAllocator>();
  for (uint32_t i = 0; i < n; i++) places->Add(Vector(3700.0 * i / n, 3.5 * (i % 4), 1.5));
  MobilityHelper mobility; mobility.SetPositionAllocator(places);
  mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel"); mobility.Install(nodes);
  InternetStackHelper internet; internet.Install(nodes);
  Ipv4AddressHelper addresses; addresses.SetBase("10.1.0.0", "255.255.0.0"); addresses.Assign(devices);
  Ptr<UniformRandomVariable> phase = CreateObject<UniformRandomVariable>();
  for (uint32_t i = 0; i < n; i++) {
    Ptr<Socket> in = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
    in->Bind(InetSocketAddress(Ipv4Address::GetAny(), 2001)); in->SetRecvCallback(MakeCallback(&Hear));
    Ptr<Socket> out = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
    out->SetAllowBroadcast(true); out->Connect(InetSocketAddress(Ipv4Address("255.255.255.255"), 2001));
    Simulator::Schedule(MicroSeconds(phase->GetInteger(0, 99999)), &Send, out);
  }
  Simulator::Stop(Seconds(seconds)); Simulator::Run();
  std::cout << n << " stations, " << seconds << " s, received " << received << std::endl;
  Simulator::Destroy();
}
