/** A named export, because a bundle gives a CommonJS module that is imported dynamically only a default export. */
export { parse } from 'yaml'
