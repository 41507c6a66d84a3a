// Search runs in a worker, and browsers start no workers for pages on a disk (file://).
// There, a hidden frame does its work: Material for MkDocs finds this class by its name.
class IFrameWorker extends EventTarget {
  constructor(url) {
    super()
    this.frame = document.createElement("iframe")
    this.frame.hidden = true
    document.body.append(this.frame)
    const inside = this.frame.contentWindow
    window.addEventListener("message", ({ source, data }) => {
      if (source === inside) {
        this.dispatchEvent(new MessageEvent("message", { data }))
      }
    })
    const answer = 'postMessage = (data) => parent.dispatchEvent(new MessageEvent("message", { data, source: window }))'
    inside.document.write(`<script>${answer}</script><script src="${url}"></script>`)
    inside.document.close()
    this.loaded = new Promise((resolve) => (inside.onload = resolve))
  }

  postMessage(data) {
    const inside = this.frame.contentWindow
    this.loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })))
  }

  terminate() {
    this.frame.remove()
  }
}

if (location.protocol === "file:") {
  window.IFrameWorker = IFrameWorker
  window.Worker = IFrameWorker
}
