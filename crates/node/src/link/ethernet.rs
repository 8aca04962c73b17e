//! Raw frames of one interface, without `unsafe`.
//!
//! The kernel wants a link-layer address to bind to, which safe code cannot make up; but it lists that of every interface
//! (`getifaddrs`), and takes the socket's own protocol where the address has none.

use std::io;
use std::os::fd::AsRawFd as _;

use covey_its::frame::ETHERTYPE;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{LinkAddr, bind};
use socket2::{Domain, Protocol, Socket, Type};

fn address_of(interface: &str) -> io::Result<LinkAddr> {
    let mut names: Vec<String> = Vec::new();
    for entry in getifaddrs()? {
        let address = entry.address.as_ref();
        match address.and_then(|address| address.as_link_addr().copied()) {
            Some(link) if entry.interface_name == interface => return Ok(link),
            Some(_) => names.push(entry.interface_name),
            None => {}
        }
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!(
            "found no interface `{interface}`, expected one of {}",
            names.join(", ")
        ),
    ))
}

/// A socket of all frames of our type on the interface of this name.
pub(super) fn open(interface: &str) -> io::Result<Socket> {
    let address = address_of(interface)?;
    let protocol = Protocol::from(i32::from(ETHERTYPE.to_be()));
    let socket = Socket::new(Domain::PACKET, Type::RAW, Some(protocol))?;
    let _ = socket.set_recv_buffer_size(super::BUFFER);
    bind(socket.as_raw_fd(), &address)?;
    Ok(socket)
}
