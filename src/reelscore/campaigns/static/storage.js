// What a page keeps in the browser. Storage may be refused, as in a frame on another site's page,
// or full; memory has it then, as long as the page is open.

class Kept {
  /** @param {"localStorage" | "sessionStorage"} kind */
  constructor(kind) {
    this.memory = new Map();
    try { this.storage = window[kind]; } catch { this.storage = undefined; }
  }

  get(key) {
    try { return this.storage.getItem(key) ?? this.memory.get(key); } catch { return this.memory.get(key); }
  }

  set(key, value) {
    this.memory.set(key, value);
    try { this.storage.setItem(key, value); } catch { /* memory has it */ }
  }

  drop(key) {
    this.memory.delete(key);
    try { this.storage.removeItem(key); } catch { /* gone with the page */ }
  }

  /** Everything whose key begins so. */
  all(prefix) {
    const entries = new Map([...this.memory].filter(([key]) => key.startsWith(prefix)));
    try {
      for (let k = 0; k < this.storage.length; k++) {
        const key = this.storage.key(k);
        if (key.startsWith(prefix)) entries.set(key, this.storage.getItem(key));
      }
    } catch { /* memory has it */ }
    return entries;
  }
}

export const lasting = new Kept("localStorage");
export const passing = new Kept("sessionStorage");
