//! A reference to the object that `open` returns. The reference is strong only while requests wait.
//!
//! The callbacks (`onEvent`, `makeOutcome`) are properties of that object, and the object is a
//! property of each of its functions. If native code referred to the callbacks, a session whose
//! callbacks refer to the object would never be collected. An idle session therefore stays alive
//! only while JavaScript refers to the object or to one of its functions. A busy session keeps
//! itself alive, because its replies must be delivered.

use std::ptr;

use napi::bindgen_prelude::{Object, Result};
use napi::{Env, JsValue, Status, sys};

/// The reference to the object.
pub struct Held {
    env: sys::napi_env,
    reference: sys::napi_ref,
}

impl Held {
    /// Makes a weak reference.
    pub fn new(env: &Env, object: &Object<'_>) -> Result<Self> {
        let mut reference = ptr::null_mut();
        // SAFETY: both values belong to the present call, and `drop` deletes the reference once.
        check(unsafe { sys::napi_create_reference(env.raw(), object.value().value, 0, &mut reference) })?;
        Ok(Self { env: env.raw(), reference })
    }

    /// Makes the reference strong or weak. A strong reference keeps the object alive.
    pub fn hold(&self, env: &Env, alive: bool) {
        let mut count = 0;
        // SAFETY: the reference is valid until `drop`. The calls alternate, so the count is 0 or 1
        // and the calls cannot fail.
        unsafe {
            match alive {
                true => sys::napi_reference_ref(env.raw(), self.reference, &mut count),
                false => sys::napi_reference_unref(env.raw(), self.reference, &mut count),
            };
        }
    }

    /// Returns the object, which is alive at least until the present call ends. Fails when the
    /// object has been collected.
    pub fn get<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let mut value = ptr::null_mut();
        // SAFETY: the reference is valid until `drop`.
        check(unsafe { sys::napi_get_reference_value(env.raw(), self.reference, &mut value) })?;
        if value.is_null() {
            return Err(napi::Error::new(Status::GenericFailure, "the session has been collected".to_owned()));
        }
        Ok(Object::from_raw(env.raw(), value))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: Node's thread drops all state of the session, before the environment ends.
        unsafe { sys::napi_delete_reference(self.env, self.reference) };
    }
}

fn check(status: sys::napi_status) -> Result<()> {
    match status {
        sys::Status::napi_ok => Ok(()),
        other => Err(napi::Error::new(Status::from(other), "a reference cannot be used".to_owned())),
    }
}
