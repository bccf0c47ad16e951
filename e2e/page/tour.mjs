// The recording in the README: a few still pictures of the page, put together as one that moves. Made when SAYSO_TOUR
// names a file; it is no test.
import { writeFileSync } from 'node:fs';

const frames = [];

// Keeps a picture, and for how long it is shown.
export async function frame(page, seconds) {
  if (!process.env.SAYSO_TOUR) return;
  frames.push({ png: await page.screenshot(), seconds });
}

function chunks(png) {
  const found = [];
  for (let at = 8; at < png.length;) {
    const length = png.readUInt32BE(at);
    found.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return found;
}

const TABLE = Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  let crc = 0xffffffff;
  for (const byte of body) crc = TABLE[(crc ^ byte) & 255] ^ (crc >>> 8);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(data.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE((crc ^ 0xffffffff) >>> 0, out.length - 4);
  return out;
}

// An animated PNG: the first frame's header, a control for each, and its data under a number.
export function write() {
  const file = process.env.SAYSO_TOUR;
  if (!file || frames.length === 0) return;
  const first = chunks(frames[0].png);
  const header = first.find((it) => it.type === 'IHDR').data;
  const same = frames.filter(({ png }) => chunks(png).find((it) => it.type === 'IHDR').data.equals(header));
  const parts = [Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk('IHDR', header)];
  const control = Buffer.alloc(8);
  control.writeUInt32BE(same.length, 0);
  parts.push(chunk('acTL', control));
  let number = 0;
  same.forEach(({ png, seconds }, index) => {
    const about = Buffer.alloc(26);
    about.writeUInt32BE(number++, 0);
    header.copy(about, 4, 0, 8);
    about.writeUInt16BE(Math.round(seconds * 100), 20);
    about.writeUInt16BE(100, 22);
    parts.push(chunk('fcTL', about));
    for (const { data } of chunks(png).filter((it) => it.type === 'IDAT')) {
      if (index === 0) { parts.push(chunk('IDAT', data)); continue; }
      const numbered = Buffer.alloc(4);
      numbered.writeUInt32BE(number++, 0);
      parts.push(chunk('fdAT', Buffer.concat([numbered, data])));
    }
  });
  parts.push(chunk('IEND', Buffer.alloc(0)));
  writeFileSync(file, Buffer.concat(parts));
}
