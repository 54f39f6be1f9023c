// Reads the size of a running process's binary. The path of the binary is the target of the link
// `/proc/PID/exe`. A stripped binary has no symbol table among its ELF sections.

import { readFileSync, readlinkSync } from 'node:fs';

export interface BinarySize {
  bytes: number;
  stripped: boolean;
}

const SHT_SYMTAB = 2;

export const binaryOfProcess = (pid: number): BinarySize => describeBinary(readFileSync(readlinkSync(`/proc/${pid}/exe`)));

/** Describes a 64-bit little-endian ELF file. The build produces no other kind. */
export function describeBinary(file: Buffer): BinarySize {
  if (file.toString('latin1', 0, 4) !== '\x7fELF' || file[4] !== 2 || file[5] !== 1) {
    throw new Error('expected a 64-bit little-endian ELF file');
  }
  const table = Number(file.readBigUInt64LE(0x28));
  const entrySize = file.readUInt16LE(0x3a);
  const count = file.readUInt16LE(0x3c);
  const types = Array.from({ length: count }, (_, index) => file.readUInt32LE(table + index * entrySize + 4));
  return { bytes: file.length, stripped: !types.includes(SHT_SYMTAB) };
}
