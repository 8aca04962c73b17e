//! What a station counts.

/// Makes a struct of counters that can be listed by name.
macro_rules! counters {
    ($(#[$outer:meta])* $visibility:vis struct $name:ident { $($(#[doc = $text:literal])+ $field:ident),+ $(,)? }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        $visibility struct $name {
            $($(#[doc = $text])+ pub $field: u64,)+
        }

        impl $name {
            /// Name, text and value of each, in order.
            #[must_use]
            pub fn list(&self) -> Vec<(&'static str, &'static str, u64)> {
                vec![$((stringify!($field), concat!($($text),+).trim_ascii(), self.$field)),+]
            }
        }
    };
}

counters! {
    /// Frames, messages and what became of them, since the station was switched on.
    pub struct Tally {
        /// Frames received.
        frames,
        /// Frames that are not GeoNetworking.
        not_geonetworking,
        /// Own frames that came back.
        own,
        /// Frames under the own link-layer address that this station did not send: another one has its number.
        namesakes,
        /// Frames refused unread because their sender, or all unknown senders together, sent too many.
        flooded,
        /// Frames that were heard before.
        duplicates,
        /// Frames or messages that cannot be read.
        unreadable,
        /// Messages of kinds that mean nothing here.
        other_messages,
        /// Beacons (CAMs) heard.
        beacons_heard,
        /// Reports (CPMs) heard.
        reports_heard,
        /// Broadcasts (fused states) heard, put together.
        broadcasts_heard,
        /// Messages in several segments of which some never came.
        incomplete,
        /// Frames without a signature, where signatures are wanted.
        unsigned,
        /// Frames whose signature or certificate is wrong.
        wrongly_signed,
        /// Frames signed with a ticket that is not, or no longer, valid.
        expired,
        /// Frames signed too long ago, or ahead of time.
        replayed,
        /// Frames by a signer whose certificate is not known yet.
        unknown_signer,
        /// Frames whose certificate allows no such message.
        not_permitted,
        /// Beacons sent.
        beacons_sent,
        /// Reports sent.
        reports_sent,
        /// Broadcasts sent.
        broadcasts_sent,
        /// Frames sent.
        frames_sent,
        /// Messages that could not be encoded.
        unsent,
        /// Objects left out of messages because they do not fit.
        left_out,
        /// Frames that the interface refused.
        send_errors,
        /// Cycles begun.
        cycles,
        /// Cycles whose decision came more than 50 ms late.
        late_cycles,
        /// Cycles without a decision at all.
        missed_cycles,
        /// Times that this station took office.
        offices,
        /// Steps of the wall clock.
        clock_steps,
        /// Changes of pseudonym.
        pseudonyms,
        /// Certificates asked for.
        certificates_asked,
        /// Certificates sent because somebody asked.
        certificates_given,
        /// Lines of the vehicle that cannot be read.
        bad_lines,
    }
}
