//! Two hosts with a process each, and what is measured of them.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use whimbrel_rig::network::Network;

use super::roles::{LOG, TOPICS};
use crate::heap::one_arena;
use crate::peer::{Answer, Peer, number};

/// Data flows again within this.
pub(super) const RECOVERY_MAX: Duration = Duration::from_secs(3);

/// How long two processes may take to meet at first, on a busy machine.
const MEETING_MAX: Duration = Duration::from_secs(15);

/// How often the listener is looked at.
const LOOK: Duration = Duration::from_millis(10);

/// How long a scenario that repeats itself does so, and with which lease.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    pub(super) lease: Duration,
    pub(super) time: Duration,
}

/// What the two processes do.
#[derive(Clone, Copy, Debug)]
pub(super) struct Script {
    pub(super) lease: Duration,
    /// Milliseconds between the samples of each topic; 0 leaves it out.
    pub(super) periods_ms: [u64; TOPICS.len()],
    /// Explicit peers of the talker, for networks without multicast.
    pub(super) peers: &'static str,
    /// Where the listener is; the talker is on `a`.
    pub(super) listener_host: &'static str,
    /// Settings of both processes by their environment.
    pub(super) settings: &'static [(&'static str, &'static str)],
}

impl Script {
    /// The reliable topics at their usual rates.
    pub(super) const fn usual(lease: Duration) -> Self {
        Self {
            lease,
            periods_ms: [10, 10, 50, 50, 0],
            peers: "",
            listener_host: "b",
            settings: &[],
        }
    }

    fn topics(&self) -> impl Iterator<Item = &'static str> {
        let all = TOPICS.iter().zip(self.periods_ms);
        all.filter(|(_, period)| *period > 0).map(|(it, _)| it.name)
    }
}

/// Both ends of the cable from `a` to `b` carry packets of so many octets.
pub(super) fn set_mtu(network: &Network, octets: u32) -> Result<(), String> {
    let set = |host| network.on(host, &format!("ip link set v{host} mtu {octets}"));
    ["a", "b"].into_iter().try_for_each(set)
}

/// The hosts, a talker on `a` and a listener on `b`.
pub(super) struct Stage {
    // The processes end before their hosts do.
    pub(super) talker: Peer,
    pub(super) listener: Peer,
    pub(super) network: Network,
    pub(super) script: Script,
    /// Nothing is added to the log any more.
    log_closed: bool,
    /// When everything flowed.
    pub(super) opened_at: Instant,
    guids: (Answer, Answer),
}

impl Stage {
    /// Starts both and waits until everything flows.
    pub(super) fn open(network: Network, script: Script) -> Result<Self, String> {
        let talker = Peer::start(&mut command(&network, "a", "talk", &script)?)?;
        let listener = Peer::start(&mut command(
            &network,
            script.listener_host,
            "listen",
            &script,
        )?)?;
        let mut stage = Self {
            talker,
            listener,
            network,
            script,
            log_closed: false,
            opened_at: Instant::now(),
            guids: Default::default(),
        };
        stage.flows(MEETING_MAX, "at the start")?;
        stage.opened_at = Instant::now();
        stage.guids = (stage.talker.ask("guid")?, stage.listener.ask("guid")?);
        Ok(stage)
    }

    /// Waits until everything written until now, and something newer, has arrived; gives the time
    /// that took.
    pub(super) fn flows(&mut self, max: Duration, when: &str) -> Result<Duration, String> {
        let begun = Instant::now();
        let written = self.talker.ask("count")?;
        loop {
            let heard = self.listener.ask("count")?;
            let behind = self.script.topics().find_map(|topic| {
                let sent = number(&written, topic).unwrap_or(i64::MAX);
                let last = number(&heard, &format!("{topic}.last")).unwrap_or(0);
                let newer = i64::from(topic != LOG || !self.log_closed);
                (last < sent + newer).then(|| format!("{topic} at {last} of {sent}"))
            });
            let Some(behind) = behind else {
                return Ok(begun.elapsed());
            };
            if begun.elapsed() > max {
                return Err(format!("{when}: {behind} after {max:?}"));
            }
            thread::sleep(LOOK);
        }
    }

    /// Data flows again within three seconds.
    pub(super) fn recovers(&mut self, when: &str) -> Result<Duration, String> {
        self.flows(RECOVERY_MAX, when)
    }

    /// The talker's view of the listener and the other way round: how many others each knows.
    pub(super) fn others(&mut self) -> Result<(i64, i64), String> {
        let talker = number(&self.talker.ask("others")?, "others")?;
        Ok((talker, number(&self.listener.ask("others")?, "others")?))
    }

    /// The newest number of the stream that has arrived.
    pub(super) fn newest(&mut self) -> Result<i64, String> {
        number(&self.listener.ask("count")?, "stream.last")
    }

    /// Nothing of `topics` is missing or came twice.
    pub(super) fn nothing_lost(&mut self, topics: &[&str]) -> Result<(), String> {
        let heard = self.listener.ask("count")?;
        for topic in topics {
            let missing = number(&heard, &format!("{topic}.missing"))?;
            let repeated = number(&heard, &format!("{topic}.repeated"))?;
            if missing != 0 || repeated != 0 {
                return Err(format!("{topic}: {missing} missing, {repeated} repeated"));
            }
        }
        Ok(())
    }

    /// The talker adds nothing to the log any more.
    pub(super) fn close_log(&mut self) -> Result<(), String> {
        self.log_closed = true;
        self.talker.ask("close").map(drop)
    }

    /// The listener has all of the log from its first entry on.
    pub(super) fn log_complete(&mut self) -> Result<(), String> {
        let heard = self.listener.ask("count")?;
        let (last, distinct) = (number(&heard, "log.last")?, number(&heard, "log.distinct")?);
        if distinct == last {
            Ok(())
        } else {
            Err(format!("log: {distinct} entries of {last}"))
        }
    }

    /// Both are still who they were.
    pub(super) fn same_guids(&mut self) -> Result<(), String> {
        let now = (self.talker.ask("guid")?, self.listener.ask("guid")?);
        let same = now.0.get("guid") == self.guids.0.get("guid")
            && now.1.get("guid") == self.guids.1.get("guid");
        if same {
            Ok(())
        } else {
            Err("a GUID has changed".into())
        }
    }

    /// Ends the listener without farewell and starts another.
    pub(super) fn restart_listener(&mut self) -> Result<(), String> {
        self.listener.signal("KILL")?;
        let host = self.script.listener_host;
        self.listener = Peer::start(&mut command(&self.network, host, "listen", &self.script)?)?;
        Ok(())
    }

    /// Starts a listener on `host` beside the one there is, which goes on and is given back.
    pub(super) fn listen_at(&mut self, host: &'static str) -> Result<Peer, String> {
        let next = Peer::start(&mut command(&self.network, host, "listen", &self.script)?)?;
        let before = std::mem::replace(&mut self.listener, next);
        self.flows(MEETING_MAX, &format!("{host} listens too"))?;
        Ok(before)
    }

    /// Ends the talker without farewell and starts another.
    pub(super) fn restart_talker(&mut self) -> Result<(), String> {
        self.talker.signal("KILL")?;
        self.talker = Peer::start(&mut command(&self.network, "a", "talk", &self.script)?)?;
        self.log_closed = false;
        Ok(())
    }

    /// Neither host has made IP fragments.
    pub(super) fn no_fragments(&self) -> Result<(), String> {
        ["a", "b"]
            .iter()
            .try_for_each(|it| self.makes_no_fragments(it))
    }

    /// `host` has made no IP fragment.
    pub(super) fn makes_no_fragments(&self, host: &str) -> Result<(), String> {
        match self.ip_fragments(host)? {
            0 => Ok(()),
            made => Err(format!("{made} IP fragments were made by {host}")),
        }
    }

    /// IP fragments that `host` has made, of both IP versions.
    fn ip_fragments(&self, host: &str) -> Result<i64, String> {
        let v4 = self.network.read(host, "cat /proc/net/snmp")?;
        let v6 = self.network.read(host, "cat /proc/net/snmp6")?;
        let made = count_v4(&v4, "Ip:", "FragCreates").zip(fragments_v6(&v6));
        made.map(|(v4, v6)| v4 + v6)
            .ok_or(format!("no FragCreates in {v4} or {v6}"))
    }

    /// Datagrams that processes on `host` were given.
    pub(super) fn datagrams(&self, host: &str) -> Result<i64, String> {
        let text = self.network.read(host, "cat /proc/net/snmp")?;
        count_v4(&text, "Udp:", "InDatagrams").ok_or(format!("no InDatagrams in {text}"))
    }

    /// Packets that came to `host` by groups that somebody there has joined.
    pub(super) fn group_packets(&self, host: &str) -> Result<i64, String> {
        let text = self.network.read(host, "cat /proc/net/netstat")?;
        count_v4(&text, "IpExt:", "InMcastPkts").ok_or(format!("no InMcastPkts in {text}"))
    }
}

/// What `name` counts in `table` of `text`, which is that of /proc/net/snmp or netstat: names in
/// one line, values in the next.
fn count_v4(text: &str, table: &str, name: &str) -> Option<i64> {
    let mut lines = text.lines().filter(|line| line.starts_with(table));
    let (names, values) = (lines.next()?, lines.next()?);
    let mut both = names.split_whitespace().zip(values.split_whitespace());
    let (_, value) = both.find(|(it, _)| *it == name)?;
    value.parse().ok()
}

/// The fragments made by `text`, which is that of /proc/net/snmp6: a name and its value in each
/// line.
fn fragments_v6(text: &str) -> Option<i64> {
    let mut values = text
        .lines()
        .filter_map(|line| line.strip_prefix("Ip6FragCreates"));
    values.next()?.trim().parse().ok()
}

fn command(network: &Network, host: &str, role: &str, script: &Script) -> Result<Command, String> {
    let mut command = network.this_program(host)?;
    command.args(["child", "hosts", role]);
    command.arg(script.lease.as_millis().to_string());
    command.args(script.periods_ms.map(|it| it.to_string()));
    command.envs(script.settings.iter().copied());
    one_arena(&mut command);
    if role == "talk" && !script.peers.is_empty() {
        command.env("WHIMBREL_PEERS", script.peers);
    }
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fragments_of_both_ip_versions_are_read() {
        let v4 = "Ip: FragFails FragCreates OutTransmits\nIp: 1 23 4\nUdp: FragCreates\nUdp: 5\n";
        let v6 = "Ip6FragOKs \t1\nIp6FragFails \t2\nIp6FragCreates \t34\nIcmp6InMsgs \t5\n";
        let of_ip = |text| count_v4(text, "Ip:", "FragCreates");
        assert_eq!((of_ip(v4), fragments_v6(v6)), (Some(23), Some(34)));
        assert_eq!((of_ip(v6), fragments_v6(v4)), (None, None));
    }
}
