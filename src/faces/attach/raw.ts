type Keys = { setRawMode?(raw: boolean): unknown }

/** Key by key, or line by line again; a terminal that was closed meanwhile has neither. */
export function setRaw(input: Keys, raw: boolean): void {
  try {
    input.setRawMode?.(raw)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EIO') throw error
  }
}
