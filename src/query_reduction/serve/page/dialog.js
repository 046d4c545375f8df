export class DialogTab {
  use() {}
}
