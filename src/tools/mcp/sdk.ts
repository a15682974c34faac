let loaded: Promise<typeof import('@modelcontextprotocol/client')> | undefined

/** The library, loaded when the first server is opened: it costs more than the rest of a start. */
export function sdk(): Promise<typeof import('@modelcontextprotocol/client')> {
  loaded ??= (hush(), import('@modelcontextprotocol/client'))
  return loaded
}

/** It prints its warnings, with names that servers chose in them: a terminal that shows a chat is no place for either. */
function hush(): void {
  const warn = console.warn
  console.warn = (...words: unknown[]) => {
    if (!String(words[0]).startsWith('[mcp-sdk]')) warn.apply(console, words)
  }
}
