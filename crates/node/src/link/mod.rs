//! How frames travel: in UDP datagrams, or as they are on an Ethernet interface.
//!
//! Either way a unit is a whole Ethernet frame of type 0x8947. In UDP it is a datagram to a multicast group, as Vanetza's `socktap
//! -l udp` sends it, or to one address (a relay). Raw Ethernet needs the capability `CAP_NET_RAW` while the socket is opened, and
//! nothing afterwards.

mod ethernet;

use std::cell::Cell;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};

use nix::errno::Errno;
use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use tokio::net::UdpSocket;

/// The group and port that Vanetza uses.
pub const GROUP: SocketAddrV4 = SocketAddrV4::new(Ipv4Addr::new(239, 118, 122, 97), 8_947);
/// Bytes that the kernel keeps for us while we are busy.
const BUFFER: usize = 1 << 20;

/// Why a group cannot be joined.
#[derive(Debug, thiserror::Error)]
pub enum Multicast {
    /// Its port cannot be had.
    #[error(transparent)]
    Group(#[from] io::Error),
    /// The interface cannot be used for it.
    #[error("{0}")]
    Local(io::Error),
}

/// Frames in and out.
#[derive(Debug)]
pub struct Link {
    /// Receiving and sending whole units is all that is asked of it, so that it serves a socket of raw frames, too.
    socket: UdpSocket,
    /// Where datagrams go to; none for an interface, which has them all.
    to: Option<SockAddr>,
    /// The interface was there and is no longer.
    gone: Cell<bool>,
}

fn udp() -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP))?;
    // As much as the machine gives.
    let _ = socket.set_recv_buffer_size(BUFFER);
    Ok(socket)
}

impl Link {
    fn of(socket: Socket, to: Option<SocketAddrV4>) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        Ok(Self {
            socket: UdpSocket::from_std(socket.into())?,
            to: to.map(SockAddr::from),
            gone: Cell::new(false),
        })
    }

    /// Joins a multicast group through the interface that has the address `local` (unspecified: the machine's choice).
    ///
    /// # Errors
    /// The address is no group, or the machine refuses.
    pub fn multicast(group: SocketAddrV4, local: Ipv4Addr) -> Result<Self, Multicast> {
        let socket = udp()?;
        socket.set_reuse_address(true)?;
        socket.set_reuse_port(true)?;
        socket.bind(&group.into())?;
        socket
            .join_multicast_v4(group.ip(), &local)
            .and_then(|()| socket.set_multicast_if_v4(&local))
            .map_err(Multicast::Local)?;
        // Other nodes of this machine hear it, too; the own frames are told by their address.
        socket.set_multicast_loop_v4(true)?;
        socket.set_multicast_ttl_v4(1)?;
        Ok(Self::of(socket, Some(group))?)
    }

    /// Listens on `listen` and sends to `peer` alone.
    ///
    /// # Errors
    /// The machine refuses.
    pub fn unicast(listen: SocketAddrV4, peer: SocketAddrV4) -> io::Result<Self> {
        let socket = udp()?;
        socket.bind(&listen.into())?;
        Self::of(socket, Some(peer))
    }

    /// All frames of type 0x8947 on the interface of this name.
    ///
    /// # Errors
    /// There is no such interface, or no right to it.
    pub fn ethernet(interface: &str) -> io::Result<Self> {
        Self::of(ethernet::open(interface)?, None)
    }

    /// Waits for a frame.
    ///
    /// # Errors
    /// Whatever the socket says.
    pub async fn receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.recv(buffer).await
    }

    /// A frame that is there already; `WouldBlock` where none is.
    ///
    /// # Errors
    /// As [`Link::receive`].
    pub fn try_receive(&self, buffer: &mut [u8]) -> io::Result<usize> {
        self.socket.try_recv(buffer)
    }

    /// Sends a frame. An interface that cannot take it now loses it, as a busy radio would.
    ///
    /// # Errors
    /// Whatever the socket says.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        // Straight to the socket: tokio would first have to learn that it can be written to.
        let socket = SockRef::from(&self.socket);
        let sent = match &self.to {
            Some(to) => socket.send_to(frame, to),
            None => socket.send(frame),
        };
        if let Err(error) = &sent {
            let gone = [Errno::ENXIO, Errno::ENODEV].map(|errno| errno as i32);
            // A socket of raw frames hears nothing any more, even when an interface of this name is back.
            let raw = self.to.is_none();
            let noted = error
                .raw_os_error()
                .is_some_and(|code| gone.contains(&code));
            self.gone.set(self.gone.get() || (raw && noted));
        }
        sent.map(|_| ())
    }

    /// The interface is no longer there, as far as sending showed.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.gone.get()
    }
}
