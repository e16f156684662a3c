//! Counters of a participant.

/// Counters of a participant; all count from its start.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ParticipantStatistics {
    /// Rounds of announcements to everybody.
    pub announcements_sent: u64,
    /// Announcements sent to one known participant: answers and keep-alives.
    pub directed_sent: u64,
    /// Signs of life sent to one participant that has our announcement.
    pub reminders_sent: u64,
    /// Announcements sent to addresses of this host where nobody is known to be.
    pub probes_sent: u64,
    /// Announcements of other participants received.
    pub announcements_received: u64,
    /// Announcements ignored because of another domain or domain tag.
    pub other_domain: u64,
    /// Our own announcements heard again.
    pub own_heard: u64,
    /// Participants discovered: heard, and shown to hear us.
    pub participants_discovered: u64,
    /// Participants that departed.
    pub participants_departed: u64,
    /// Participants whose lease ended.
    pub participants_expired: u64,
    /// Messages not sent because their addresses had not answered yet.
    pub withheld: u64,
    /// Participants that had acknowledged nothing and made room for others.
    pub participants_displaced: u64,
    /// Participants known that have acknowledged nothing yet.
    pub participants_unanswered: u64,
    /// Messages dropped because too much waited for the cap on discovery's octets per second.
    pub discovery_dropped: u64,
    /// Participants and endpoints not admitted because a limit was reached.
    pub not_admitted: u64,
    /// Matches not made because a limit was reached.
    pub matches_refused: u64,
    /// Participants that had forgotten us and were served from the start again.
    pub resumed: u64,
    /// Participants that came back with the same GUID before they were taken for lost.
    pub reborn: u64,
}
