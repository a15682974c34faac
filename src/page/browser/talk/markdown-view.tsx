import type { ComponentChild } from 'preact'
import type { Inline, MarkdownBlock } from './markdown-tree.ts'
import { safeText } from '../../../chat/style/safe-text.ts'
import { markdownTree } from './markdown-tree.ts'

/** A Markdown text of an agent. All of it is drawn as text; none of its markup reaches the page. */
export function Markdown({ text }: { text: string }) {
  return <div class="markdown">{markdownTree(safeText(text)).map(drawnBlock)}</div>
}

function drawnBlock(block: MarkdownBlock, key: number): ComponentChild {
  switch (block.type) {
    case 'heading':
      // Agents skip heading levels, which would confuse a screen reader: all headings are directly below the page's title.
      return (
        <p key={key} class={`heading level-${block.level}`} role="heading" aria-level={2}>
          {drawInline(block.parts)}
        </p>
      )
    case 'paragraph':
      return <p key={key}>{drawInline(block.parts)}</p>
    case 'code':
      return (
        <pre
          key={key}
          class="code"
          tabindex={0}
          aria-label={block.language === '' ? 'Code' : `Code, ${block.language}`}
        >
          <code>{block.text}</code>
        </pre>
      )
    case 'quote':
      return <blockquote key={key}>{block.blocks.map(drawnBlock)}</blockquote>
    case 'rule':
      return <hr key={key} />
    case 'table':
      return (
        <div key={key} class="wide" tabindex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {block.heads.map((head, at) => (
                  <th key={at} scope="col" class={block.aligns[at]}>
                    {drawInline(head)}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {block.rows.map((row, line) => (
                <tr key={line}>
                  {row.map((cell, at) => (
                    <td key={at} class={block.aligns[at]}>
                      {drawInline(cell)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )
    case 'list': {
      const items = block.items.map(({ checked, blocks }, at) => (
        <li key={at}>
          {checked === undefined ? null : <span class="task">{checked ? '☑ ' : '☐ '}</span>}
          {blocks.length === 1 && blocks[0]!.type === 'paragraph'
            ? drawInline(blocks[0]!.parts)
            : blocks.map(drawnBlock)}
        </li>
      ))
      return block.start === undefined ? (
        <ul key={key}>{items}</ul>
      ) : (
        <ol key={key} start={block.start}>
          {items}
        </ol>
      )
    }
  }
}

function drawInline(parts: readonly Inline[]): ComponentChild[] {
  return parts.map((part, key) => {
    if (typeof part === 'string') return part
    switch (part.type) {
      case 'code':
        return <code key={key}>{part.text}</code>
      case 'strong':
        return <strong key={key}>{drawInline(part.parts)}</strong>
      case 'em':
        return <em key={key}>{drawInline(part.parts)}</em>
      case 'strike':
        return <s key={key}>{drawInline(part.parts)}</s>
      case 'break':
        return <br key={key} />
      case 'picture':
        return (
          <span key={key} class="badge">
            picture: {part.words}
          </span>
        )
      case 'link':
        return (
          <a key={key} href={part.href} rel="noopener noreferrer" target="_blank">
            {drawInline(part.parts)}
          </a>
        )
    }
  })
}
