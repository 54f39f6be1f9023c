//! Selects the snapshots to remove: the tenant with the highest use loses its least recently used
//! snapshots.
//!
//! All tenants share the capacity, so that a single tenant can use the whole capacity. A tenant
//! within its share (the capacity divided by the number of tenants with snapshots) loses no
//! snapshot to another tenant. If the total exceeds the capacity, the tenant with the highest use
//! exceeds its share. This protection has an exception: a single snapshot larger than its owner's
//! share displaces old snapshots of other tenants instead of being refused. Otherwise, tenants that
//! never return would keep all shares small forever. The rule applies in memory and on disk. Next:
//! `single_flight.rs`.

use std::collections::HashMap;
use std::hash::Hash;

/// A snapshot that uses capacity.
#[derive(Debug, Clone)]
pub(super) struct Holding<T, W> {
    pub(super) owner: T,
    pub(super) bytes: u64,
    /// The time of the last use.
    pub(super) used: W,
    /// Whether the snapshot must stay.
    pub(super) protected: bool,
}

/// Returns the indices of the holdings to remove so that `need` more bytes of `owner` fit into
/// `room`. Returns `None` if the bytes cannot fit. `can_go` returns whether a holding may be
/// removed. The function is called only for candidates, because it may be slow.
pub(super) fn victims<T: Eq + Hash + Clone + Ord, W: Ord + Clone>(
    holdings: &[Holding<T, W>],
    (owner, need): (&T, u64),
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
    /// The bytes of a tenant, and its removable holdings, sorted with the least recently used
    /// holding last.
    #[derive(Default)]
    struct Holder {
        bytes: u64,
        removable: Vec<usize>,
    }
    let mut holders: HashMap<T, Holder> = HashMap::new();
    holders.entry(owner.clone()).or_default().bytes = need;
    for (index, one) in holdings.iter().enumerate() {
        let holder = holders.entry(one.owner.clone()).or_default();
        holder.bytes = holder.bytes.saturating_add(one.bytes);
        if !one.protected {
            holder.removable.push(index);
        }
    }
    for holder in holders.values_mut() {
        holder.removable.sort_by(|a, b| holdings[*b].used.cmp(&holdings[*a].used));
    }
    let mut victims = Vec::new();
    while total > room {
        let able = holders.iter_mut().filter(|(_, holder)| !holder.removable.is_empty());
        let (_, most) = able.max_by(|(a, x), (b, y)| {
            x.bytes.cmp(&y.bytes).then_with(|| (*a == owner).cmp(&(*b == owner))).then_with(|| a.cmp(b))
        })?;
        let index = most.removable.pop()?;
        if !can_go(index) {
            continue;
        }
        most.bytes -= holdings[index].bytes;
        total -= holdings[index].bytes;
        victims.push(index);
    }
    Some(victims)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any(_: usize) -> bool {
        true
    }

    fn holding(owner: u8, bytes: u64, used: u64) -> Holding<u8, u64> {
        Holding { owner, bytes, used, protected: false }
    }

    #[test]
    fn removes_the_least_recently_used_first() {
        let held = [holding(1, 10, 3), holding(1, 10, 1), holding(1, 10, 2)];
        assert_eq!(victims(&held, (&1, 10), 40, any), Some(vec![]));
        assert_eq!(victims(&held, (&1, 5), 30, any), Some(vec![1]));
        assert_eq!(victims(&held, (&1, 15), 30, any), Some(vec![1, 2]));
        assert_eq!(victims(&held, (&1, 31), 30, any), None);
    }

    #[test]
    fn removes_from_the_tenant_that_uses_most() {
        // The snapshot of tenant 1 is older and stays, because tenant 2 uses more bytes.
        let held = [holding(1, 10, 1), holding(2, 20, 8), holding(2, 20, 9)];
        assert_eq!(victims(&held, (&1, 5), 50, any), Some(vec![1]));
        assert_eq!(victims(&held, (&3, 5), 50, any), Some(vec![1]));
    }

    #[test]
    fn keeps_protected_snapshots() {
        let mut held = [holding(1, 20, 1), holding(1, 20, 2), holding(2, 5, 1)];
        held[0].protected = true;
        assert_eq!(victims(&held, (&2, 10), 50, any), Some(vec![1]));
        held[1].protected = true;
        assert_eq!(victims(&held, (&2, 10), 50, any), Some(vec![2]));
        assert_eq!(victims(&held, (&2, 11), 50, any), None);
    }

    #[test]
    fn checks_candidates_one_after_the_other() {
        let held = [holding(1, 20, 1), holding(1, 20, 2), holding(1, 20, 3), holding(2, 5, 1)];
        let ask = |need: u64, stays: &[usize]| {
            let mut asked = Vec::new();
            let removed = victims(&held, (&2, need), 70, |index| {
                asked.push(index);
                !stays.contains(&index)
            });
            (removed, asked)
        };
        assert_eq!(ask(5, &[0]), (Some(vec![]), vec![]));
        assert_eq!(ask(15, &[0]), (Some(vec![1]), vec![0, 1]));
        assert_eq!(ask(15, &[0, 1, 2]), (None, vec![0, 1, 2, 3]));
    }

    proptest! {
        #[test]
        fn a_tenant_within_its_share_loses_nothing_to_another(
            held in prop::collection::vec((0..5_u8, 1..50_u64, 0..100_u64), 0..40),
            owner in 0..5_u8,
            need in 1..60_u64,
            room in 60..400_u64,
        ) {
            let held: Vec<_> = held.into_iter().map(|(owner, bytes, used)| holding(owner, bytes, used)).collect();
            let removed = victims(&held, (&owner, need), room, any).expect("nothing is protected");
            let uses = |tenant: u8, left: bool| held.iter().enumerate()
                .filter(|(index, one)| one.owner == tenant && !(left && removed.contains(index)))
                .map(|(_, one)| one.bytes).sum::<u64>();
            prop_assert!((0..5).map(|tenant| uses(tenant, true)).sum::<u64>() + need <= room);
            let tenants = (0..5).filter(|tenant| uses(*tenant, false) > 0 || *tenant == owner).count() as u64;
            let within = |tenant: &u8| *tenant != owner && uses(*tenant, false) <= room / tenants && need <= room / tenants;
            for tenant in (0..5).filter(within) {
                prop_assert_eq!(uses(tenant, true), uses(tenant, false));
            }
            // Each tenant loses its least recently used snapshots.
            for index in &removed {
                let older = |other: &Holding<u8, u64>| other.owner == held[*index].owner && other.used < held[*index].used;
                let mut older = held.iter().enumerate().filter(|(_, other)| older(other));
                prop_assert!(older.all(|(other, _)| removed.contains(&other)));
            }
        }
    }
}
