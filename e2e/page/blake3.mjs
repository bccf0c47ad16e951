// BLAKE3 of at most 64 bytes, which is how the store keeps tokens: enough to make some for a test.
const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ORDER = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const turn = (word, by) => (word >>> by) | (word << (32 - by));

export function blake3(text) {
  const bytes = Buffer.from(text);
  const block = Buffer.alloc(64);
  bytes.copy(block);
  let words = Array.from({ length: 16 }, (_, at) => block.readUInt32LE(at * 4));
  // One chunk of one block, which is also the root.
  const state = [...IV, ...IV.slice(0, 4), 0, 0, bytes.length, 1 | 2 | 8];
  const mix = (a, b, c, d, x, y) => {
    state[a] = (state[a] + state[b] + x) | 0;
    state[d] = turn(state[d] ^ state[a], 16);
    state[c] = (state[c] + state[d]) | 0;
    state[b] = turn(state[b] ^ state[c], 12);
    state[a] = (state[a] + state[b] + y) | 0;
    state[d] = turn(state[d] ^ state[a], 8);
    state[c] = (state[c] + state[d]) | 0;
    state[b] = turn(state[b] ^ state[c], 7);
  };
  for (let round = 0; round < 7; round++) {
    [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15], [0, 5, 10, 15], [1, 6, 11, 12], [2, 7, 8, 13], [3, 4, 9, 14]]
      .forEach((places, at) => mix(...places, words[2 * at], words[2 * at + 1]));
    words = ORDER.map((at) => words[at]);
  }
  const out = Buffer.alloc(32);
  for (let at = 0; at < 8; at++) out.writeUInt32LE((state[at] ^ state[at + 8]) >>> 0, at * 4);
  return out.toString('hex');
}
