import { codeName, codeSign, textParts } from './visible-text.ts'

/** A text in which every character can be seen: those that hide or turn others are shown by their signs. */
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
