//! A reference to the object that `open` gives, which is strong only while requests wait.
//!
//! Everything that JavaScript gave us (`onEvent`, `makeOutcome`) hangs on that object, and the object on each of its functions. Were those held
//! from here, a core whose callbacks can reach its owner, as callbacks do, would never be collected. So an idle core is held by its users
//! alone; a busy one holds itself, because its answers have to arrive.

use std::ptr;

use napi::bindgen_prelude::{Object, Result};
use napi::{Env, JsValue, Status, sys};

/// See the module.
pub struct Held {
    env: sys::napi_env,
    reference: sys::napi_ref,
}

impl Held {
    /// A weak reference.
    pub fn new(env: &Env, object: &Object<'_>) -> Result<Self> {
        let mut reference = ptr::null_mut();
        // SAFETY: both are of the present call; the reference is deleted once, in `drop`.
        check(unsafe { sys::napi_create_reference(env.raw(), object.value().value, 0, &mut reference) })?;
        Ok(Self { env: env.raw(), reference })
    }

    /// From now on the object stays alive, or does so no longer.
    pub fn hold(&self, env: &Env, alive: bool) {
        let mut count = 0;
        // SAFETY: the reference is valid until `drop`. The calls alternate, so the count is 0 or 1. They cannot fail.
        unsafe {
            match alive {
                true => sys::napi_reference_ref(env.raw(), self.reference, &mut count),
                false => sys::napi_reference_unref(env.raw(), self.reference, &mut count),
            };
        }
    }

    /// The object, unless it has been collected; it lives at least until the present call ends.
    pub fn get<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let mut value = ptr::null_mut();
        // SAFETY: as above.
        check(unsafe { sys::napi_get_reference_value(env.raw(), self.reference, &mut value) })?;
        if value.is_null() {
            return Err(napi::Error::new(Status::GenericFailure, "the core has been collected".to_owned()));
        }
        Ok(Object::from_raw(env.raw(), value))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: on Node's thread, where all of the core's state is dropped, and before the environment is gone.
        unsafe { sys::napi_delete_reference(self.env, self.reference) };
    }
}

fn check(status: sys::napi_status) -> Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        other => Err(napi::Error::new(Status::from(other), "a reference cannot be used".to_owned())),
    }
}
