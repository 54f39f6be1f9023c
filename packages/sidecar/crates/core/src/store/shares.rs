//! Who has to give when there is no more room: the tenant that uses most, and of what it has the least recently used.
//!
//! The room is shared, so that a tenant that is alone can use all of it. But nobody can push a neighbour out: when more is held than fits, the one that
//! uses most holds more than its share (the room divided by the tenants that hold anything), so a tenant within its share loses nothing to another. The
//! exception is a single snapshot that is larger than the share of whose it is: it pushes out what is old rather than being refused, for tenants who never
//! come back would else keep everybody's shares small for ever. The same rule holds in memory and on disk.

use std::collections::HashMap;
use std::hash::Hash;

/// Something that takes room.
#[derive(Debug, Clone)]
pub(super) struct Holding<T, W> {
    pub(super) whose: T,
    pub(super) bytes: u64,
    /// When it was last used.
    pub(super) used: W,
    /// Whether it must stay.
    pub(super) protected: bool,
}

/// Which of `holdings` must go so that `need` more bytes of `whose` fit into `room`: their indices. `None`: it cannot be made to fit. `can_go` is asked
/// about those only whose turn it is, and may take its time.
pub(super) fn victims<T: Eq + Hash + Clone + Ord, W: Ord + Clone>(
    holdings: &[Holding<T, W>],
    (whose, need): (&T, u64),
    room: u64,
    mut can_go: impl FnMut(usize) -> bool,
) -> Option<Vec<usize>> {
    let mut total = holdings.iter().map(|one| one.bytes).fold(need, u64::saturating_add);
    if total <= room {
        return Some(Vec::new());
    }
    let stays = holdings.iter().filter(|one| one.protected).map(|one| one.bytes).fold(need, u64::saturating_add);
    if stays > room {
        return None;
    }
    /// What a tenant holds, and which of it may go: the least recently used last.
    #[derive(Default)]
    struct Holder {
        bytes: u64,
        may_go: Vec<usize>,
    }
    let mut holders: HashMap<T, Holder> = HashMap::new();
    holders.entry(whose.clone()).or_default().bytes = need;
    for (index, one) in holdings.iter().enumerate() {
        let holder = holders.entry(one.whose.clone()).or_default();
        holder.bytes = holder.bytes.saturating_add(one.bytes);
        if !one.protected {
            holder.may_go.push(index);
        }
    }
    for holder in holders.values_mut() {
        holder.may_go.sort_by(|a, b| holdings[*b].used.cmp(&holdings[*a].used));
    }
    let mut gone = Vec::new();
    while total > room {
        let able = holders.iter_mut().filter(|(_, holder)| !holder.may_go.is_empty());
        let (_, most) = able.max_by(|(a, x), (b, y)| {
            x.bytes.cmp(&y.bytes).then_with(|| (*a == whose).cmp(&(*b == whose))).then_with(|| a.cmp(b))
        })?;
        let index = most.may_go.pop()?;
        if !can_go(index) {
            continue;
        }
        most.bytes -= holdings[index].bytes;
        total -= holdings[index].bytes;
        gone.push(index);
    }
    Some(gone)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any(_: usize) -> bool {
        true
    }

    fn holding(whose: u8, bytes: u64, used: u64) -> Holding<u8, u64> {
        Holding { whose, bytes, used, protected: false }
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let held = [holding(1, 10, 3), holding(1, 10, 1), holding(1, 10, 2)];
        assert_eq!(victims(&held, (&1, 10), 40, any), Some(vec![]));
        assert_eq!(victims(&held, (&1, 5), 30, any), Some(vec![1]));
        assert_eq!(victims(&held, (&1, 15), 30, any), Some(vec![1, 2]));
        assert_eq!(victims(&held, (&1, 31), 30, any), None);
    }

    #[test]
    fn who_uses_most_gives() {
        // The neighbour's are older and stay.
        let held = [holding(1, 10, 1), holding(2, 20, 8), holding(2, 20, 9)];
        assert_eq!(victims(&held, (&1, 5), 50, any), Some(vec![1]));
        assert_eq!(victims(&held, (&3, 5), 50, any), Some(vec![1]));
    }

    #[test]
    fn what_is_protected_stays() {
        let mut held = [holding(1, 20, 1), holding(1, 20, 2), holding(2, 5, 1)];
        held[0].protected = true;
        assert_eq!(victims(&held, (&2, 10), 50, any), Some(vec![1]));
        held[1].protected = true;
        assert_eq!(victims(&held, (&2, 10), 50, any), Some(vec![2]));
        assert_eq!(victims(&held, (&2, 11), 50, any), None);
    }

    #[test]
    fn those_only_are_asked_about_whose_turn_it_is() {
        let held = [holding(1, 20, 1), holding(1, 20, 2), holding(1, 20, 3), holding(2, 5, 1)];
        let ask = |need: u64, stays: &[usize]| {
            let mut asked = Vec::new();
            let gone = victims(&held, (&2, need), 70, |index| {
                asked.push(index);
                !stays.contains(&index)
            });
            (gone, asked)
        };
        assert_eq!(ask(5, &[0]), (Some(vec![]), vec![]));
        assert_eq!(ask(15, &[0]), (Some(vec![1]), vec![0, 1]));
        assert_eq!(ask(15, &[0, 1, 2]), (None, vec![0, 1, 2, 3]));
    }

    proptest! {
        #[test]
        fn a_tenant_within_its_share_loses_nothing_to_another(
            held in prop::collection::vec((0..5_u8, 1..50_u64, 0..100_u64), 0..40), whose in 0..5_u8, need in 1..60_u64, room in 60..400_u64
        ) {
            let held: Vec<_> = held.into_iter().map(|(whose, bytes, used)| holding(whose, bytes, used)).collect();
            let gone = victims(&held, (&whose, need), room, any).expect("nothing is protected");
            let uses = |tenant: u8, left: bool| held.iter().enumerate()
                .filter(|(index, one)| one.whose == tenant && !(left && gone.contains(index)))
                .map(|(_, one)| one.bytes).sum::<u64>();
            prop_assert!((0..5).map(|tenant| uses(tenant, true)).sum::<u64>() + need <= room);
            let tenants = (0..5).filter(|tenant| uses(*tenant, false) > 0 || *tenant == whose).count() as u64;
            let within = |tenant: &u8| *tenant != whose && uses(*tenant, false) <= room / tenants && need <= room / tenants;
            for tenant in (0..5).filter(within) {
                prop_assert_eq!(uses(tenant, true), uses(tenant, false));
            }
            // Of each tenant the least recently used.
            for index in &gone {
                let older = |other: &Holding<u8, u64>| other.whose == held[*index].whose && other.used < held[*index].used;
                prop_assert!(held.iter().enumerate().filter(|(_, other)| older(other)).all(|(other, _)| gone.contains(&other)));
            }
        }
    }
}
