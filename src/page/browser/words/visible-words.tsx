import { codeName, codeSign, textParts } from './visible-text.ts'

/**
 * Shows a text in which every character is visible: characters that are invisible, or that change the direction of others, are shown by
 * their names.
 */
export function VisibleWords({ text }: { text: string }) {
  return (
    <>
      {textParts(text).map((part, at) =>
        'words' in part ? (
          part.words
        ) : (
          <span key={at} class="unseen" title={codeName(part.code)}>
            {codeSign(part.code)}
          </span>
        ),
      )}
    </>
  )
}
