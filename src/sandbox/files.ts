/**
 * Files that people attach, as Slack keeps them: a description that goes with the message, and the bytes for whoever has the
 * app's token and its scope. https://docs.slack.dev/reference/objects/file-object
 */

/** What somebody picks on the page. */
export interface Attachment {
  name: string
  mimetype: string
  bytes: Buffer
}

export interface FileObject {
  id: string
  name: string
  mimetype: string
  size: number
  mode: "hosted"
  user: string
  url_private: string
  url_private_download: string
}

export class Files {
  readonly #kept = new Map<string, Attachment>()

  /** `url`: where this Slack listens, with a slash at the end. */
  keep(attachment: Attachment, { id, user, url }: { id: string; user: string; url: string }): FileObject {
    this.#kept.set(id, attachment)
    const { name, mimetype, bytes } = attachment
    const address = `${url}files-pri/${id}/${encodeURIComponent(name)}`
    const addresses = { url_private: address, url_private_download: `${address}?download=1` }
    return { id, name, mimetype, size: bytes.length, mode: "hosted", user, ...addresses }
  }

  get(id: string): Attachment | undefined {
    return this.#kept.get(id)
  }
}
