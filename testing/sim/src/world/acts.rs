//! What happens from outside: what the scenario plans, and what comes of it later.

use super::*;

impl World {
    pub(super) fn act(&mut self, todo: Todo) {
        self.note(|| format!("{todo:?}"));
        match todo {
            Todo::Act(action) => self.act_out(action),
            Todo::Heal => self.heal(),
            Todo::WriterLearns { writer, reader } => self.writer_learns(writer, reader),
            Todo::WriterForgets { writer, reader } => {
                self.writer_forgets(writer, reader, true);
                self.settle_all();
            }
            Todo::ReaderForgets { reader, writer } => {
                self.reader_forgets(reader, writer);
                self.settle_all();
            }
            Todo::ReaderLearns { reader, writer } => self.reader_learns(reader, writer),
            Todo::Boot { node, same_prefix } => self.boot(node, same_prefix),
            Todo::Rest => self.look_for_rest(),
        }
    }

    fn act_out(&mut self, action: Action) {
        let node = match action {
            Action::StartWriter(plan) | Action::StopWriter(plan) => {
                self.scenario.writers[plan].node
            }
            Action::Write { writer, .. } => self.scenario.writers[writer].node,
            Action::StartReader(plan) | Action::StopReader(plan) => {
                self.scenario.readers[plan].node
            }
            Action::Partition { from, to, span } => {
                if !self.healed {
                    self.network.partition(from, to, self.now.after(span));
                }
                return;
            }
            Action::Pause { node, span } => {
                if !self.healed {
                    let until = self.now.after(span);
                    for it in self.scenario.process_of(node) {
                        self.network.pause(it, until);
                    }
                    self.recovery.note_pause(until.min(self.scenario.heals_at));
                }
                return;
            }
            Action::SetWallClock { node, step_ns } => {
                let stepped = |it| node.is_none_or(|node| self.scenario.share_process(node, it));
                let offsets = self.wall_offsets_ns.iter_mut().enumerate();
                for (_, offset_ns) in offsets.filter(|(it, _)| stepped(*it)) {
                    *offset_ns += step_ns;
                }
                return;
            }
            Action::Crash {
                node,
                down,
                same_prefix,
            } => return self.crash(node, down, same_prefix),
            Action::Leave { node } => return self.leave(node),
            Action::Restart { node, same_prefix } => return self.restart(node, same_prefix),
        };
        if self.is_away(node, action) {
            return;
        }
        let awake_at = self.network.paused_until(node);
        if awake_at > self.now {
            return self.plan(awake_at, Todo::Act(action));
        }
        match action {
            Action::StartWriter(plan) => self.start_writer(plan),
            Action::StopWriter(plan) => self.stop_writer(plan),
            Action::StartReader(plan) => self.start_reader(plan),
            Action::StopReader(plan) => self.stop_reader(plan),
            _ => self.write(node, action),
        }
        self.settle(node);
    }

    fn heal(&mut self) {
        self.healed = true;
        self.recovery.note_change(self.now);
        self.network.heal(self.now);
        for node in 0..self.nodes.len() {
            let here = self.here(node);
            for slot in &mut self.nodes[node].readers {
                slot.take_period = Duration::ZERO;
                slot.takes_at = Some(here);
            }
            self.settle(node);
        }
    }
}
