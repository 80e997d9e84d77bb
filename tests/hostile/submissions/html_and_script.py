"""It shows HTML with a script, raises one, and names a function so."""
# points: 0

from IPython.display import HTML, display

display(HTML("<script>document.location='http://example.org'</script>"))


def amdahl(p, s):
    print("<script>alert(1)</script>")
    raise ValueError("<script>alert(2)</script><img src=x onerror=alert(3)>")
