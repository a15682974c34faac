/** A text that tmux takes as it is: it runs what it finds in `#(…)`, and draws by what it finds in `#[…]`. */
export function plain(text: string): string {
  return text
    .replaceAll(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .replaceAll(/#+(?=[[({])/g, '')
    .replaceAll('#', '##')
}

/** For a command of tmux's own, in which it looks for dates as well. */
export function plainCommand(text: string): string {
  return text.replaceAll('#', '##').replaceAll('%', '%%')
}
