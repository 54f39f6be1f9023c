//! Takes out of a wasm module what the image holds already: data segments, names, and the memory's initial size.
//!
//! Section ids and encodings: WebAssembly core specification, "Binary format, modules".

/// Bytes of a page of linear memory.
pub(crate) const WASM_PAGE: u64 = 65_536;
/// 2 GiB: what the guest ABI allows.
const MAX_PAGES: u64 = 32_768;

const CUSTOM: u8 = 0;
const MEMORY: u8 = 5;
const START: u8 = 8;
const DATA: u8 = 11;
const DATA_COUNT: u8 = 12;

/// The module without its data, with a memory of `pages` pages to begin with.
pub(crate) fn without_data(wasm: &[u8], pages: u64) -> Result<Vec<u8>, String> {
    let header = wasm.get(..8).filter(|header| header.starts_with(b"\0asm")).ok_or("it is not a wasm module")?;
    let mut out = header.to_vec();
    let mut rest = &wasm[8..];
    while let Some((&id, after)) = rest.split_first() {
        let (len, after) = unsigned(after)?;
        let len = usize::try_from(len).map_err(|_| "a section is too long")?;
        let body = after.get(..len).ok_or("a section ends after the file")?;
        rest = &after[len..];
        match id {
            CUSTOM | DATA | DATA_COUNT => {}
            START => return Err("it has a start function, which would run at every start".to_owned()),
            MEMORY => {
                let mut memory = vec![1, 1];
                put_unsigned(&mut memory, pages);
                put_unsigned(&mut memory, MAX_PAGES);
                section(&mut out, id, &memory);
            }
            _ => section(&mut out, id, body),
        }
    }
    Ok(out)
}

fn section(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    out.push(id);
    put_unsigned(out, body.len() as u64);
    out.extend_from_slice(body);
}

fn unsigned(bytes: &[u8]) -> Result<(u64, &[u8]), String> {
    let mut value = 0_u64;
    for (index, byte) in bytes.iter().enumerate().take(5) {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte & 0x80 == 0 {
            return Ok((value, &bytes[index + 1..]));
        }
    }
    Err("a number is cut short or too long".to_owned())
}

fn put_unsigned(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let low = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 {
            out.push(low);
            return;
        }
        out.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(sections: &[(u8, &[u8])]) -> Vec<u8> {
        let mut wasm = b"\0asm\x01\0\0\0".to_vec();
        sections.iter().for_each(|(id, body)| section(&mut wasm, *id, body));
        wasm
    }

    #[test]
    fn drops_data_and_names_and_sets_the_memory() {
        let wasm = module(&[
            (1, b"types"),
            (MEMORY, &[1, 0, 2]),
            (DATA_COUNT, &[1]),
            (10, b"code"),
            (DATA, b"data"),
            (CUSTOM, b"\x04name"),
        ]);
        let expected = module(&[(1, b"types"), (MEMORY, &[1, 1, 0xc8, 0x01, 0x80, 0x80, 0x02]), (10, b"code")]);
        assert_eq!(without_data(&wasm, 200), Ok(expected));
    }

    #[test]
    fn refuses_what_it_cannot_read() {
        assert!(without_data(b"no wasm here", 1).is_err());
        assert!(without_data(&module(&[(START, &[0])]), 1).is_err());
        let mut cut = module(&[(10, b"code")]);
        cut.pop();
        assert!(without_data(&cut, 1).is_err());
    }
}
