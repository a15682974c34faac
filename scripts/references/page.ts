/** The folder of the references, under the root of the repository. */
export const referenceFolder = 'docs/reference'

const notice = '<!-- Made from the code by scripts/references.ts, and not edited by hand. -->'

/** A page of the references: a title, and its parts with an empty line between them. */
export function page(title: string, ...parts: readonly string[]): string {
  return `${[`# ${title}`, notice, ...parts].join('\n\n')}\n`
}

/** A table of Markdown. A cell is one line, and a bar in it does not end it. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cellText).join(' | ')} |`
  return [line(heads), `|${heads.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n')
}

const cellText = (cell: string) => cell.replaceAll(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')

/** A word as it is typed. One with a backquote in it gets a longer mark. */
export const code = (text: string) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

/** Words that are no Markdown, such as <file> or *.ts. */
export const plain = (text: string) => text.replaceAll(/<(?=[A-Za-z/[])|\*/g, '\\$&')

/** An object of which everything can be asked that a part asks while it is made; nothing of it is ever called. */
export function nobody<T>(known: object = {}): T {
  const answers = new Proxy(() => {}, {
    get: (_target, name) =>
      name === Symbol.toPrimitive ? () => '' : ((known as Record<PropertyKey, unknown>)[name] ?? nobody()),
  })
  return answers as T
}
