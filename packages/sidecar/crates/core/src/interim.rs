//! A store that has memory alone, until the one with a folder is in place.

use crate::Core;
use crate::error::Error;
use crate::runtime::{Snapshot, SnapshotInfo};
use crate::store::{DamagedSnapshot, StoreOptions, Stored};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// See the module. Cheap to clone.
#[derive(Clone)]
pub struct Store {
    all: Arc<Mutex<Vec<Arc<Snapshot>>>>,
}

/// What `list` gives.
pub type Listed = (Vec<(SnapshotInfo, Stored)>, Vec<DamagedSnapshot>);

#[expect(missing_docs, reason = "it goes away")]
impl Store {
    pub fn open(_core: &Core, _options: StoreOptions) -> Self {
        Self { all: Arc::default() }
    }

    pub fn held(&self, tenant: &str, name: &str) -> Option<Arc<Snapshot>> {
        let is_it = |info: &SnapshotInfo| info.tenant == tenant && (info.id == name || info.name.as_deref() == Some(name));
        self.all.lock().iter().rev().find(|snapshot| is_it(snapshot.info())).cloned()
    }

    pub fn later(&self, job: impl FnOnce(&Self) + Send + 'static) {
        let this = self.clone();
        std::thread::spawn(move || job(&this));
    }

    pub fn keep(&self, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
        self.all.lock().push(Arc::clone(snapshot));
        Ok(())
    }

    pub fn write(&self, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
        self.keep(snapshot)
    }

    pub fn write_protected(&self, snapshot: &Arc<Snapshot>) -> Result<(), Error> {
        self.keep(snapshot)
    }

    pub fn protect(&self, _tenant: &str, _id: &str, _on: bool) -> Result<(), Error> {
        Ok(())
    }

    pub fn forget(&self, _tenant: &str, _id: &str) {}

    pub fn get(&self, tenant: &str, name: &str) -> Result<Arc<Snapshot>, Error> {
        self.held(tenant, name).ok_or_else(|| Error::SnapshotNotFound { snapshot: name.to_owned() })
    }

    pub fn find(&self, tenant: &str, name: &str) -> Result<(SnapshotInfo, Stored), Error> {
        self.get(tenant, name).map(|snapshot| (snapshot.info().clone(), Stored::Memory))
    }

    pub fn list(&self, tenant: &str) -> Result<Listed, Error> {
        let all = self.all.lock();
        let mine = all.iter().rev().filter(|snapshot| snapshot.info().tenant == tenant);
        Ok((mine.map(|snapshot| (snapshot.info().clone(), Stored::Memory)).collect(), Vec::new()))
    }

    pub fn delete(&self, tenant: &str, name: &str) -> Result<(), Error> {
        let found = self.get(tenant, name)?;
        self.all.lock().retain(|snapshot| !Arc::ptr_eq(snapshot, &found));
        Ok(())
    }

    pub fn digest(&self, tenant: &str, name: &str) -> Result<String, Error> {
        self.get(tenant, name)?;
        Err(no_folder())
    }

    pub fn export(&self, tenant: &str, name: &str, _path: &Path) -> Result<(), Error> {
        self.get(tenant, name)?;
        Err(no_folder())
    }

    pub fn import(&self, _tenant: &str, _path: &Path) -> Result<(SnapshotInfo, Stored), Error> {
        Err(no_folder())
    }
}

fn no_folder() -> Error {
    Error::Snapshot { reason: "there is no folder for snapshots yet".to_owned() }
}
