// A stack: what the suite in test/ is about.

export class Stack {
  #items = [];
  push(item) {
    this.#items.push(item);
    return this;
  }
  pop() {
    if (this.#items.length === 0) throw new RangeError('the stack is empty');
    return this.#items.pop();
  }
}
