//! The PC5 mode 4 channel.
